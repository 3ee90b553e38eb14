"""The meanings of terms that the results of reports use, in the words of the glossary."""

from __future__ import annotations

MEANINGS = {
    "95% CI": "Confidence interval. A range around a score. If the study were repeated with other "
    "data, 95% of such ranges would contain the true value.",
    "among the best": "The best model, and every model not significantly different from it.",
    "baseline": "Baseline. A simple score that a model should exceed.",
    "cannot be distinguished": "Two models cannot be distinguished if their difference is not "
    "significant; this does not mean that they are equal.",
    "corrected p": "p-value. The probability of a difference at least as large as the observed one "
    "if there were no true difference. With many comparisons it is corrected for their number.",
    "edits": "Edit distance. The smallest number of characters to insert, delete or replace that "
    "turns one term into the other; also called Levenshtein distance.",
    "leads": "A model leads if it is significantly better than every other, unless no model is "
    "significantly better than chance.",
    "majority": "Majority vote. The answer that more than half of the people asked gave.",
    "negatives": "A negative is a pair that no chain of positives connects.",
    "p": "p-value. The probability of a difference at least as large as the observed one if there "
    "were no true difference.",
    "positives": "A positive is a pair of terms that the terminology states to be synonymous.",
    "significant": "Significance test. A test of whether a difference could be due to chance.",
    "significantly": "Significance test. A test of whether a difference could be due to chance.",
    "synonyms": "Synonym. A term with the same meaning as another.",
}
"""The meanings by the terms as sentences have them; the site's glossary has the same sentences."""
