from engine.bits import Bits, lowest, lowest_index, popcount
from engine.contract import NO_MOVE
from engine.errors import PositionError
from engine.jit import compiled
from engine.positions import rebuild
