// What the page can do without this script it does a little more comfortably with it. Nothing is spent here.
const say = (amount) => `\u00b1${Number(amount.toPrecision(4))}`;

// One slider over the prices of the list: the expected tables and the picture follow.
const slide = () => {
  const list = document.getElementById("price");
  if (!list || list.options.length < 2) return;
  const slider = document.createElement("input");
  const told = document.createElement("output");
  Object.assign(slider, { type: "range", id: "slider", min: 0, max: list.options.length - 1, step: 1, value: list.selectedIndex });
  slider.setAttribute("aria-label", "Price, from cheap to dear");
  told.id = "told";
  told.htmlFor = "slider";
  const show = () => {
    list.selectedIndex = Number(slider.value);
    const chosen = list.options[list.selectedIndex];
    const errors = JSON.parse(chosen.dataset.errors);
    told.textContent = chosen.text;
    slider.setAttribute("aria-valuetext", chosen.text);
    document.querySelectorAll("#release svg .point").forEach((point, place) => point.classList.toggle("here", place === list.selectedIndex));
    for (const table of document.querySelectorAll("table.expected")) {
      const error = errors[Number(table.dataset.place)];
      const half = error ? 96 * error.within / Number(table.dataset.widest) : 0;
      const [start, end] = [(100 - half).toFixed(1), (100 + half).toFixed(1)];
      for (const each of table.querySelectorAll(".within")) each.textContent = error ? say(error.within) : "error depends on the rows";
      for (const each of table.querySelectorAll("path.error")) each.setAttribute("d", error ? `M${start} 7H${end}M${start} 3v8M${end} 3v8` : "");
    }
  };
  slider.addEventListener("input", show);
  list.addEventListener("change", () => { slider.value = list.selectedIndex; show(); });
  list.parentElement.append(slider, told);
  show();
};

// The plan follows what is typed, after a pause; the button does the same. Until it does, nothing can be released: what
// would be spent is the plan that is shown, not what was typed since.
const ask = document.getElementById("ask");
if (ask) {
  let waiting, asked = 0;
  const hold = () => document.querySelectorAll("#release button").forEach((button) => { button.disabled = true; });
  const show = (...found) => { document.getElementById("plan").replaceChildren(...found); slide(); };
  const plan = async () => {
    if (!ask.checkValidity()) return;
    const mine = ++asked;
    let found;
    try {
      const answer = await fetch(ask.action, { method: "POST", body: new URLSearchParams(new FormData(ask)), redirect: "error" });
      found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("plan");
    } catch { /* told below */ }
    if (mine !== asked) return;
    if (!found) return show("There is no plan now. Press Plan to see why.");
    for (const each of found.querySelectorAll("[role=alert]")) each.removeAttribute("role"); // half a sentence is no alarm
    show(...found.childNodes);
  };
  ask.addEventListener("input", () => { ++asked; hold(); clearTimeout(waiting); waiting = setTimeout(plan, 700); });
  ask.addEventListener("submit", () => clearTimeout(waiting));
}
slide();

// A release that runs is looked at again.
if (document.getElementById("state")?.dataset.state === "running") setTimeout(() => location.reload(), 2000);

// A page that a browser kept, to go back to it, may be one of somebody who has logged out since: it is hidden and loaded anew.
addEventListener("pagehide", () => { document.documentElement.hidden = true; });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
