"""The studio in a notebook, wherever its browser is.

The studio listens on the machine of the kernel. The browser that shows the notebook may be elsewhere: on a laptop
before JupyterHub, at the end of an SSH tunnel. So the output of a cell is a frame with a copy of what was shown, which
needs no connection and stays in the notebook when it is saved, and a script that looks for the studio from the browser:

- at the loopback address, if the notebook has one too;
- below ``proxy/PORT`` of the notebook server, where the extension jupyter-server-proxy answers: it passes requests and
  sockets on, for users who are logged in.

Whatever answers there must know the token of this studio. The first place that does replaces the copy by the page
itself. Where neither does, a line below the copy says what to install.
"""

from __future__ import annotations

import secrets
from html import escape

from choque.studio.page.http import HERE_PATH

HEIGHT = 640
"""Height of the frame [pixels]."""

WAITED = 4000
"""How long a place is waited for [ms]."""

SCRIPT = r"""<script>
(async () => {
  const shown = document.getElementById("NAME"), frame = shown.firstElementChild, note = shown.lastElementChild;
  const settings = document.getElementById("jupyter-config-data");
  const base = settings ? JSON.parse(settings.textContent).baseUrl : document.body.dataset.baseUrl;
  const places = [];
  if (/^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname) || location.protocol === "vscode-webview:")
    places.push("http://127.0.0.1:PORT/TOKEN/");
  if (base) places.push(new URL(`${base.replace(/\/?$/, "/")}proxy/PORT/TOKEN/`, location.href).href);
  for (const place of places)
    try {
      const answer = await fetch(place + "HERE", { signal: AbortSignal.timeout(WAITED) });
      if (!answer.ok || (await answer.text()) !== "choque") continue;
      frame.removeAttribute("srcdoc");
      frame.src = place;
      note.remove();
      return;
    } catch { continue; }
  note.textContent = "This is a copy of the view when the cell ran: your browser cannot reach the studio in the "
    + "kernel. To make it live, install the proxy beside the notebook server (pip install jupyter-server-proxy) and "
    + "start that server again.";
})();
</script>"""


def frame(copy: str, port: int, token: str) -> str:
    """Return HTML for the output of a cell: a page that needs no server, ``copy``, or the studio if it is reached."""
    name = f"choque-{secrets.token_hex(6)}"
    script = SCRIPT.replace("NAME", name).replace("PORT", str(port)).replace("TOKEN", token)
    script = script.replace("HERE", HERE_PATH).replace("WAITED", str(WAITED))
    style = f"width:100%;height:{HEIGHT}px;border:0"
    return (
        f'<div id="{name}"><iframe srcdoc="{escape(copy)}" style="{style}" title="Choque studio"></iframe>'
        f"<p>This is a copy of the view when the cell ran.</p></div>{script}"
    )
