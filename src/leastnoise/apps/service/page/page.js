// One slider over the prices of the list; without this script the list itself is there.
const list = document.getElementById("price");
if (list && list.options.length > 1) {
  const slider = document.createElement("input");
  const told = document.createElement("output");
  Object.assign(slider, { type: "range", id: "slider", min: 0, max: list.options.length - 1, step: 1, value: list.selectedIndex });
  slider.setAttribute("aria-label", "Price and expected error");
  told.id = "told";
  told.setAttribute("aria-live", "polite");
  const show = () => {
    list.selectedIndex = Number(slider.value);
    told.textContent = list.options[list.selectedIndex].text;
    slider.setAttribute("aria-valuetext", told.textContent);
    document.querySelectorAll("svg .point").forEach((point, place) => point.classList.toggle("here", place === list.selectedIndex));
  };
  slider.addEventListener("input", show);
  list.addEventListener("change", () => { slider.value = list.selectedIndex; show(); });
  list.parentElement.append(slider, told);
  show();
}
