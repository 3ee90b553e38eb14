"""The command that maps local names to a standard."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next, say_signs
from medsim.mapping.options import MapOptions


@command(app, MapOptions, then=("report", "sql"), name="map")
def map_local(options: MapOptions, *, form: Format = "table") -> None:
    """Map local names to the concepts of a standard, with the probability that each is right.

    Writes OUT with candidates and mappings as tables, manifest.json, and files for other programs:
    CSV, .xlsx, SSSOM, OMOP and FHIR. Probabilities are learned from names of the standard, not from
    decisions, so check a sample of mappings. Decide in the workbook or on the page of medsim
    report, and run the command again with --decisions. With --gold, the mapping and other systems
    are scored against a gold mapping.

    Example: medsim map wards.xlsx hpo -o mapped
    """
    from medsim.mapping.map import map_names
    from medsim.systems.rankings import ranking_sentences, readable_rankings

    mapped = call(map_names, options)
    if form == "table" or not mapped.is_scored:
        print_table(mapped.counts(), form)
    say_signs(
        options,
        form,
        "at least: probability that the first candidate is right; expected right: their sum",
    )
    if mapped.is_scored:
        results = mapped.results()
        sentences = ranking_sentences(results, mapped.comparisons(), "code")
        print_table(results, form, readable=readable_rankings, opening=sentences)
    say_next(
        options,
        "to decide, run medsim report {out} -o decide.html",
        'for the rows, run medsim sql {out} "from candidate"',
    )
