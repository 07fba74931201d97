"""The options that ``choque picture`` and ``choque video`` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choque.cli._json import AsJson, print_json
from choque.cli._options import Settings, read_camera, read_settings, read_size

if TYPE_CHECKING:
    from choque.studio.film import Look
    from choque.studio.volumes.look import VolumeLook


@dataclass(frozen=True)
class Looks:
    """What to draw and how it looks, as options of a verb."""

    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="Kind of THING, if unclear: kinetic or volumes.")
    ] = None
    size: Annotated[
        str, typer.Option("--size", metavar="WxH", help="Size in pixels; pictures of boxes have their own.")
    ] = "1280x720"
    camera: Annotated[
        str | None,
        typer.Option(
            "--camera", metavar="DIST,PITCH,YAW", help="Distance and angles in degrees, instead of the scene's camera."
        ),
    ] = None
    fit: Annotated[
        bool, typer.Option("--fit/--no-fit", help="Bodies: let them fill the picture, or take the scene's camera.")
    ] = True
    follow: Annotated[bool, typer.Option("--follow", help="Bodies: the camera follows what moves.")] = False
    orbit: Annotated[
        float, typer.Option("--orbit", metavar="DEGREES", help="Bodies: turn the camera by this angle in a film.")
    ] = 0.0
    boxes: Annotated[bool, typer.Option("--boxes", help="Bodies: show axis-aligned boxes.")] = False
    oriented: Annotated[bool, typer.Option("--oriented-boxes", help="Bodies: show oriented boxes.")] = False
    contacts: Annotated[bool, typer.Option("--contacts", help="Bodies: show contacts and their normals.")] = False
    pairs: Annotated[bool, typer.Option("--pairs", help="Bodies: show candidate pairs.")] = False
    tree: Annotated[bool, typer.Option("--tree", help="Bodies: show the tree that finds candidates.")] = False
    since: Annotated[
        float,
        typer.Option(
            "--since", metavar="T", help="Bodies: show boxes, contacts, pairs and the tree from this time on."
        ),
    ] = 0.0
    caption: Annotated[
        str | None,
        typer.Option("--caption", metavar="TEXT", help="Text at the bottom; {time}, {frame}, {bodies}, {contacts}."),
    ] = None
    axes: Annotated[bool, typer.Option("--axes", help="Bodies: show the coordinate axes.")] = False
    show: Annotated[
        str | None,
        typer.Option(
            "--show", metavar="NAMES", help="Volumes: first/second, as in 'surface,brinks xyz/triangles,box'."
        ),
    ] = None
    no_region: Annotated[bool, typer.Option("--no-region", help="Volumes: do not draw their intersection.")] = False
    draft: Annotated[bool, typer.Option("--draft", help="Faster: no shadows, no smooth edges.")] = False
    option: Settings = None
    as_json: AsJson = False

    @property
    def request(self) -> dict[str, Any]:
        """The arguments that requests of pictures and films share."""
        return {"parameters": read_settings(self.option), "look": self._look(), "volumes": self._volume_look()}

    def report(self, output: str, description: str) -> None:
        """Print what was written, and what it shows."""
        if self.as_json:
            print_json({"file": output, "shows": description})
        else:
            from choque.cli._terminal import plain

            typer.echo(f"{output}: {plain(description)}")

    def _look(self) -> Look:
        from choque.studio.film import Look

        return Look(
            size=read_size(self.size),
            camera=read_camera(self.camera),
            fit=self.fit,
            follow=self.follow,
            orbit=self.orbit,
            boxes=self.boxes,
            oriented_boxes=self.oriented,
            contacts=self.contacts,
            pairs=self.pairs,
            tree=self.tree,
            since=self.since,
            caption=self.caption,
            axes=self.axes,
            shadows=not self.draft,
            smoothing=1 if self.draft else 2,
        )

    def _volume_look(self) -> VolumeLook:
        """Read names joined by commas; those of the second volume after a slash, or the same for both."""
        from choque.studio.volumes.look import VolumeLook

        region = not self.no_region
        if self.show is None:
            return VolumeLook(region=region)
        first, slash, second = self.show.partition("/")
        chosen = [
            {name.strip() for name in part.split(",") if name.strip()} for part in (first, second if slash else first)
        ]
        return VolumeLook((chosen[0], chosen[1]), region)
