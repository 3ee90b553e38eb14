# The public names, each once: type checkers read them here, and so does __init__.py.

from medsim.audits.audit import audit as audit
from medsim.audits.output import Audit as Audit
from medsim.builds.build import build as build
from medsim.builds.compiling import warm as warm
from medsim.builds.output import Build as Build
from medsim.builds.output import open_build as open_build
from medsim.builds.shards import build_shard as build_shard
from medsim.builds.shards import merge as merge
from medsim.cli.report import write_report as write_report
from medsim.core.checks import Verification as Verification
from medsim.core.errors import MedsimError as MedsimError
from medsim.core.progress import Progress as Progress
from medsim.definitions.definition import define as define
from medsim.definitions.definition import rebuild as rebuild
from medsim.diffs.diff import diff as diff
from medsim.diffs.output import Diff as Diff
from medsim.embeddings.options import Embedding as Embedding
from medsim.evaluations.compare import compare as compare
from medsim.evaluations.correlate import correlate as correlate
from medsim.evaluations.evaluate import evaluate as evaluate
from medsim.evaluations.output import Evaluation as Evaluation
from medsim.evaluations.training import TermSimilarityEvaluator as TermSimilarityEvaluator
from medsim.exports.export import export as export
from medsim.exports.output import Exported as Exported
from medsim.leaderboards.ranking import leaderboard as leaderboard
from medsim.linking.link import link as link
from medsim.linking.output import Linking as Linking
from medsim.mapping.map import map_names as map_names
from medsim.mapping.output import NameMapping as NameMapping
from medsim.neighbours.pool import Pool as Pool
from medsim.neighbours.pool import nearest as nearest
from medsim.papers.output import Reproduction as Reproduction
from medsim.papers.reproduce import reproduce as reproduce
from medsim.questions.output import Answers as Answers
from medsim.splits.output import Splits as Splits
from medsim.splits.split import split as split
from medsim.splits.verify import verify as verify
from medsim.studies.asking import add_annotator as add_annotator
from medsim.studies.asking import domains_study as domains_study
from medsim.studies.asking import grade_study as grade_study
from medsim.studies.asking import inspect_study as inspect_study
from medsim.studies.asking import instances_study as instances_study
from medsim.studies.asking import sample_study as sample_study
from medsim.studies.folder import Study as Study
from medsim.studies.score import Scores as Scores
from medsim.studies.score import score_study as score_study
from medsim.studies.word_pairs import WordPairs as WordPairs
from medsim.studies.word_pairs import choose_pairs as choose_pairs
from medsim.tagging.output import Tagging as Tagging
from medsim.tagging.tag import tag as tag
from medsim.terminologies.releases import convert as convert
from medsim.terminologies.releases import synth as synth
from medsim.wic.build import build_wic as build_wic
from medsim.wic.describe import describe_wic as describe_wic
from medsim.wic.evaluate import evaluate_wic as evaluate_wic
from medsim.wic.output import Benchmark as Benchmark
from medsim.wic.output import WicScores as WicScores
from medsim.wic.verify import Verified as Verified
from medsim.wic.verify import verify_wic as verify_wic

__version__: str

open = open_build  # noqa: A001 — reads well as medsim.open
