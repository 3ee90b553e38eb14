"""Verifies builds, and splits of builds: every promise of each, derived anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.options import VerifyOptions
from medsim.builds.output import Build
from medsim.builds.recomputed_checks import Sample
from medsim.builds.verify import verify as verify_build
from medsim.core.checks import FINDING_COLUMNS, Finding, Verification, findings_table
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.opened import open_output, reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import progress_of
from medsim.splits.options import AnyVerifyOptions
from medsim.splits.output import Splits
from medsim.splits.split_checks import check_against_build, check_files, check_separation

if TYPE_CHECKING:
    from collections.abc import Sequence

SPLIT_FINDING_COLUMNS = {"split": pl.String, **FINDING_COLUMNS}
"""The columns of the findings on splits; those on all of them together have no split."""


@public(AnyVerifyOptions)
def verify(options: AnyVerifyOptions) -> Verification:
    """Return whether a build or splits on disk keep medsim's promises, each derived anew.

    Files and rows are compared with the manifest; positives are derived again from the canonical
    tables; rules are checked in SQL; distances, statistics, ids and the order of rows are computed
    again; random negatives are drawn again; first terms of each set, a random sample of them or
    all, are compared with every term of the set by an independent library; cosines are computed
    again from the embedding. What a sample leaves out may be wrong: ``n_compared`` and
    ``n_first_terms`` of the result say how much that is. First terms that have fewer negatives
    than positives are always compared. Of splits, each is verified as a build, and no concept, term
    or pair of one may be linked to another; findings have the column split.

    Raises:
        InputError: the folder holds no finished build or splits, or its embedding is missing or
            another.
        OptionError: the sample is negative, or ``embedding`` or ``build`` does not fit the folder.
    """
    opened: Any = open_output(folder_of(options.folder), Build, Splits)
    if isinstance(opened, Splits):
        return _verify_splits(opened, options)
    if options.build is not None:
        raise OptionError(f"`build` is for splits; {opened.folder} is a build")
    return verify_build(**options.given(VerifyOptions))


def _verify_splits(splits: Splits, options: AnyVerifyOptions) -> Verification:
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    seed = Sample.of(options).seed
    with reading_output(splits):
        with progress.stage("compare files with the manifest"):
            whole = check_files(splits)
        if any(one.violations for one in whole):
            return _findings(whole, {})
        of_splits = {
            name: verify_build(
                **{
                    **options.given(VerifyOptions),
                    "folder": build.folder,
                    "seed": seed,
                    "progress": progress.part(name),
                }
            )
            for name, build in splits.builds.items()
        }
        if any(not found.holds for found in of_splits.values()):
            return _findings(whole, of_splits)
        with progress.stage("derive groups anew"):
            whole += check_separation(splits, threads)
        if options.build is not None:
            build = Build(folder_of(options.build))
            whole += check_against_build(splits, build, options, threads, progress)
    return _findings(whole, of_splits)


def _findings(whole: Sequence[Finding], of_splits: dict[str, Verification]) -> Verification:
    tables = {name: found.findings for name, found in of_splits.items()} | {
        "": findings_table(whole)
    }
    rows = [
        table.with_columns(split=pl.lit(name)).select(*SPLIT_FINDING_COLUMNS)
        for name, table in tables.items()
    ]
    return Verification(
        findings=pl.concat(rows),
        n_compared=sum(found.n_compared for found in of_splits.values()),
        n_first_terms=sum(found.n_first_terms for found in of_splits.values()),
        seed=next((found.seed for found in of_splits.values()), 0),
    )
