"""
A world in the browser
======================

View a world while the program that owns it runs: the page controls the world of the
program, and shows every change that the program makes. The argument
is the number of seconds to stay up; Ctrl+C ends it earlier.
"""

import sys
import time

import choque

# %%
# A small world.
scene = choque.scene.bodies("gas", 500, seed=1)
world = scene.world(broad="sap-incremental")
# sphinx_gallery_thumbnail_path = 'images/studio_world.png'

# %%
# The page is served by a separate thread while this program runs.
studio = choque.show(world, browser=False, wait=False)
print(f"The studio is at {studio.url}.")

# %%
# There P plays, I shows boxes, T shows the structure of the broad phase, and a click
# describes a body.
#
# .. image:: /images/studio_world.png
#    :alt: A world in the studio, with a second method beside the first

# %%
# Steps made on the page change the world here.
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
time.sleep(seconds)
frame = studio.ask(lambda: world.frame)
print(f"After {seconds:g} s the world is in frame {frame}.")
studio.stop()
