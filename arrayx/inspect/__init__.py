"""Looking at programs before they run: their cost by source line, and their pictures."""

from arrayx.inspect.cost import Cost, LineCost, cost
from arrayx.inspect.picture import draw

__all__ = ["Cost", "LineCost", "cost", "draw"]
