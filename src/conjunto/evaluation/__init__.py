"""Numbers about ensembles: functions of votes and y."""

from conjunto.evaluation.curves import error_curve
from conjunto.evaluation.margins import margins
from conjunto.evaluation.oob import oob_votes
from conjunto.evaluation.quantiles import predict_quantiles
from conjunto.evaluation.switching import switching_error, switching_margin

__all__ = ["error_curve", "margins", "oob_votes", "predict_quantiles", "switching_error", "switching_margin"]
