"""Draw the thumbnails that come with the studio: ``python docs/images/thumbnails.py``, in a minute."""

from __future__ import annotations

import io
from zipfile import ZipFile, ZipInfo

from PIL import Image

from choque.files.atomic import replacing
from choque.studio.page.entries import ENTRIES
from choque.studio.page.thumbnails import PICTURED, SHIPPED, drawn

QUALITY = 85


def main() -> None:
    """Write the archive; the same pictures give the same bytes."""
    with replacing(SHIPPED) as handle, ZipFile(handle, "w") as archive:
        for kind in PICTURED:
            for name in ENTRIES.find(kind).things():
                packed = io.BytesIO()
                Image.open(io.BytesIO(drawn(kind, name))).save(packed, "webp", quality=QUALITY, method=6)
                archive.writestr(ZipInfo(f"{kind}/{name}"), packed.getvalue())
                print(f"{kind}/{name}", len(packed.getvalue()), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
