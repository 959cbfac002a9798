"""Statistics of proximity: the paper's four, and a catalogue of others in use."""

from .catalogue import AdamicAdar as AdamicAdar
from .catalogue import CommonNeighboursPerMember as CommonNeighboursPerMember
from .catalogue import InverseDistance as InverseDistance
from .catalogue import Jaccard as Jaccard
from .catalogue import Katz3 as Katz3
from .catalogue import PersonalisedPageRank as PersonalisedPageRank
from .catalogue import PreferentialAttachment as PreferentialAttachment
from .catalogue import ResourceAllocation as ResourceAllocation
from .paper import CN as CN
from .paper import Flow as Flow
from .paper import Path as Path
from .paper import Triangle as Triangle
