"""The options and parameters that changed since the version before: then, and now."""

from __future__ import annotations

CHANGES: dict[str, tuple[str | None, str | None]] = {
    "build(corrections)": ("str | Path | None = None", "str | Path | Sequence[Correction] = ()"),
    "build(synonym_scopes)": ("Sequence[str] = ('exact',)", None),
    "build(synonyms)": (None, "Sequence[str] = ('exact',)"),
    "build_shard(corrections)": (
        "str | Path | None = None",
        "str | Path | Sequence[Correction] = ()",
    ),
    "build_shard(out)": ("str | Path", "str | Path = 'build'"),
    "build_shard(source)": ("str | Path", "str | Path = 'hpo'"),
    "build_shard(synonym_scopes)": ("Sequence[str] = ('exact',)", None),
    "build_shard(synonyms)": (None, "Sequence[str] = ('exact',)"),
    "build_wic(as_of)": (None, "date | None = None"),
    "build_wic(synonym_scopes)": ("Sequence[str] = ('exact',)", None),
    "build_wic(synonyms)": (None, "Sequence[str] = ('exact',)"),
    "medsim build --out": ("<path> required", "<path> = build"),
    "medsim build --overwrite": ("/ --no-overwrite = no-overwrite", ""),
    "medsim merge --overwrite": ("/ --no-overwrite = no-overwrite", ""),
    "medsim merge --source": ("<str>", "<path>"),
    "medsim merge OUT": ("<path> required", "<str> required"),
    "medsim report FOLDER": ("<path> required", "<str> required"),
    "medsim sql OUT": ("<path> required", "<str> required"),
    "medsim verify OUT": ("<path> required", "<str> required"),
    "medsim wic build --as-of": (None, "<%Y-%m-%d|%Y%m%d>"),
    "medsim wic build --overwrite": ("/ --no-overwrite = no-overwrite", ""),
    "medsim wic build CORPUS...": ("<list[Path]> required", "<list[str]> required"),
    "write_report(output)": ("str | Path | Build | Evaluation", "str | Path | OpenedFolder"),
}
