"""Moving polygons: when do their boxes overlap, and when do they really touch?"""

# %% Three polygons of constant velocity: a scene of the thesis that this room goes back to.
import choque.kinetic
from choque.kinetic import scenes, shapes

model = scenes.make("tres-objetos")
for time, kind, pair in choque.kinetic.simulation(model, "kinetic").run().events:
    print(f"the overlap of boxes {pair} {kind} at {time:.6g}")

# %% The outlines touch later than the boxes, or not at all. The times are exact: quotients, not samples.
for contact in choque.kinetic.contacts(model.polygons, model.velocity, until=10.0):
    print(f"polygons {contact.pair} touch from {contact.began:.6g} to {contact.ended:.6g}")

# %% Own shapes: by name, scaled to an area, turned, put in place.
star = shapes.shape("star-5", size=4.0, turned=0.3)
arrow = shapes.shape("arrow-head", size=2.0, at=(6.0, 0.5))
for contact in choque.kinetic.contacts([star, arrow], [[1.0, 0.0], [0.0, 0.0]], until=20.0):
    print(f"star and arrow head touch from {contact.began:.6g} to {contact.ended:.6g}")
