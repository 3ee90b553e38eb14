-- Examples of the codes of mentions and of concepts, for messages.
--
-- reads   annotation_code, entry
-- writes  one row: the smallest code of a mention with its vocabulary, and the smallest concept

select
    coalesce(min(a.vocabulary || ':' || nullif(a.code, '')), 'none') as cited,
    (select min(e.concept_id) from entry as e) as concept_id
from annotation_code as a;
