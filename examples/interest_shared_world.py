"""A shared world: who sees whom, who came into view, and views that follow the crowd."""

# %% Five thousand users around three meeting places; each sees 2 m far and is half a metre wide.
import numpy as np

import choque

random = np.random.default_rng(0)
place = random.normal(0, 5, (5_000, 2)) + random.choice([-20, 0, 20], (5_000, 1))
areas = choque.interest.Areas(place, radius=2.0, body_radius=0.25)
print(f"{areas}: user 7 sees {len(areas.members(7))} others")

# %% They walk. What entered and left is all that has to be sent; adding it up gives the members.
seen = set(map(tuple, areas.entered.tolist()))
heading = random.normal(0, 0.02, place.shape)
for second in range(1, 11):
    place = place + heading
    areas.update(place)
    seen |= set(map(tuple, areas.entered.tolist()))
    seen -= set(map(tuple, areas.left.tolist()))
    print(f"second {second:2d}: {len(areas.entered):5d} came into view, {len(areas.left):5d} went out of it")
assert sorted(seen) == list(map(tuple, areas.pairs().tolist()))

# %% Seeing is directed: a lighthouse is seen from nearby and sees far; a statue is seen and sees nothing.
lighthouse = areas.add([[0.0, 0.0]], radius=15.0, body_radius=1.0)[0]
statue = areas.add([[1.0, 0.0]], body_radius=0.5)[0]
print(f"the lighthouse sees {len(areas.members(lighthouse))} bodies, the statue {len(areas.members(statue))}")

# %% Nobody can follow hundreds of others: let every area hold 12, between 0.5 m and 40 m.
areas.resize([lighthouse], None)
areas.adapt(target=12, smallest=0.5, largest=40.0)
starts, others = areas.all_members()
counts = np.diff(starts)[areas.radius > 0.5]
print(f"radii from {np.nanmin(areas.radius):.2f} m to {np.nanmax(areas.radius):.2f} m hold {set(counts.tolist())} each")
