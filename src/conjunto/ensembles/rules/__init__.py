"""The rules of boosting: one per file."""

from conjunto.ensembles.rules._rule import BoostingRule
from conjunto.ensembles.rules.arc_x4 import ArcX4
from conjunto.ensembles.rules.gentle import Gentle
from conjunto.ensembles.rules.igp import IGP
from conjunto.ensembles.rules.logit import Logit
from conjunto.ensembles.rules.m1 import M1
from conjunto.ensembles.rules.m2 import M2
from conjunto.ensembles.rules.mh import MH
from conjunto.ensembles.rules.r import R
from conjunto.ensembles.rules.r2 import R2
from conjunto.ensembles.rules.samme import SAMME
from conjunto.ensembles.rules.samme_r import SAMMER

BOOSTING_RULES: dict[str, type[BoostingRule]] = {
    "m1": M1,
    "samme": SAMME,
    "samme.r": SAMMER,
    "m2": M2,
    "mh": MH,
    "gentle": Gentle,
    "logit": Logit,
    "arc-x4": ArcX4,
    "igp": IGP,
    "r2": R2,
    "r": R,
}
CLASSIFICATION = ("m1", "samme", "samme.r", "m2", "mh", "gentle", "logit")
REGRESSION = ("r2", "r")

__all__ = ["BOOSTING_RULES", "CLASSIFICATION", "REGRESSION", "BoostingRule"]
