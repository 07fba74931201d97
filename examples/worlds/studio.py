"""
A world in the browser
======================

Watch a world while the program that owns it goes on: what is played on the page has happened
to it, and what happens here is seen there. Run it with a number of seconds to stay up for;
Ctrl+C ends it earlier.
"""

import sys
import time

import choque

# %%
# A world of its own.
scene = choque.scene.bodies("gas", 500, seed=1)
world = scene.world(broad="sap-incremental")
# sphinx_gallery_thumbnail_path = 'images/studio_world.png'

# %%
# The page: a thread of its own serves it while this program goes on.
studio = choque.show(world)
print(f"The studio is at {studio.url}.")

# %%
# There P plays, I shows boxes, T what the broad phase has built, and a click tells of a body.
#
# .. image:: /images/studio_world.png

# %%
# What is played there happens here.
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
time.sleep(seconds)
frame = studio.ask(lambda: world.frame)
print(f"After {seconds:g} s the world is in frame {frame}.")
studio.stop()
