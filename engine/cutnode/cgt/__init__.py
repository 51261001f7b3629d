"""Values of short partizan games, exactly: arithmetic, comparison, outcomes, thermographs.

::

    from cutnode.cgt import Value

    hot = Value("{3|-1}") + Value("*")
    hot.temperature, hot.mean               # Fraction(2, 1), Fraction(1, 1)
    Value("^") > 0, Value("^").confused_with("*")
"""

from cutnode.cgt.thermographs import Thermograph as Thermograph
from cutnode.cgt.values import Value as Value

__all__ = ["Thermograph", "Value"]
