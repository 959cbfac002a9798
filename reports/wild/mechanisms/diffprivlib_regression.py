"""Linear regressions: features from 50 to 100 within bounds that begin at 0; with an intercept."""

from diffprivlib.models import LinearRegression

from pdpaudit.adapters.libraries import Estimator

wrong = Estimator(
    LinearRegression(bounds_X=(0.0, 100.0), bounds_y=(0.0, 100.0), fit_intercept=False),
    bounds=(50.0, 100.0),
    labels=(0.0, 100.0),
)
right = Estimator(
    LinearRegression(bounds_X=(-100.0, 100.0), bounds_y=(-100.0, 100.0), fit_intercept=False),
    bounds=(50.0, 100.0),
    labels=(0.0, 100.0),
)
# By the exact form of its numbers either is broken.
wrong.representation = right.representation = False

intercept = Estimator(
    LinearRegression(bounds_X=(-1.0, 1.0), bounds_y=(-1.0, 1.0)),
    bounds=(0.0, 1.0),
    labels=(-1.0, 1.0),
)
intercept.representation = False
