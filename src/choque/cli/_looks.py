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


def of_bodies(*names: str, **more: Any) -> Any:
    """Return an option that the help lists under bodies."""
    return typer.Option(*names, rich_help_panel="Bodies", **more)


def of_volumes(*names: str, **more: Any) -> Any:
    """Return an option that the help lists under volumes."""
    return typer.Option(*names, rich_help_panel="Volumes", **more)


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
    fit: Annotated[bool, of_bodies("--fit/--no-fit", help="Let them fill the picture, or take the scene's camera.")] = (
        True
    )
    follow: Annotated[bool, of_bodies("--follow", help="The camera follows what moves.")] = False
    boxes: Annotated[bool, of_bodies("--boxes", help="Show axis-aligned boxes.")] = False
    oriented: Annotated[bool, of_bodies("--oriented-boxes", help="Show oriented boxes.")] = False
    contacts: Annotated[bool, of_bodies("--contacts", help="Show contacts and their normals.")] = False
    pairs: Annotated[bool, of_bodies("--pairs", help="Show candidate pairs.")] = False
    tree: Annotated[bool, of_bodies("--tree", help="Show the tree that finds candidates.")] = False
    axes: Annotated[bool, of_bodies("--axes", help="Show the coordinate axes.")] = False
    show: Annotated[
        str | None,
        of_volumes(
            "--show", metavar="NAMES", help="What to draw of the first/second: 'surface,brinks xyz/triangles,box'."
        ),
    ] = None
    no_region: Annotated[bool, of_volumes("--no-region", help="Do not draw their intersection.")] = False
    caption: Annotated[
        str | None,
        typer.Option(
            "--caption", metavar="TEXT", help="Text at the bottom, with {time}, {frame}, {bodies} or {contacts}."
        ),
    ] = None
    draft: Annotated[bool, typer.Option("--draft", help="Faster: no shadows, no smooth edges.")] = False
    option: Settings = None
    as_json: AsJson = False

    def request(self, **film: Any) -> dict[str, Any]:
        """Return the arguments that requests of pictures and films share; ``film`` is more of the look of a film."""
        return {"parameters": read_settings(self.option), "look": self._look(film), "volumes": self._volume_look()}

    def report(self, output: str, description: str) -> None:
        """Print what was written, and what it shows."""
        if self.as_json:
            print_json({"file": output, "shows": description})
        else:
            from choque.cli._terminal import plain

            typer.echo(f"{output}: {plain(description)}")

    def _look(self, film: dict[str, Any]) -> Look:
        from choque.studio.film import Look

        return Look(
            size=read_size(self.size),
            camera=read_camera(self.camera),
            fit=self.fit,
            follow=self.follow,
            boxes=self.boxes,
            oriented_boxes=self.oriented,
            contacts=self.contacts,
            pairs=self.pairs,
            tree=self.tree,
            caption=self.caption,
            axes=self.axes,
            shadows=not self.draft,
            smoothing=1 if self.draft else 2,
            **film,
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
