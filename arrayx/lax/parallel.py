"""Questions about named axes."""
from arrayx.core.named_axes import find_axis
def axis_size(n): return find_axis(n).size
