"use strict";
// All of the page can be read without this: it copies commands, opens causes and goes through the heat maps by keys.

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      // A browser may keep the clipboard from a page on disk: then the text is selected, ready to be copied.
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

for (const button of document.querySelectorAll("button[data-all]")) {
  button.addEventListener("click", () => {
    for (const cause of document.querySelectorAll("details.cause")) cause.open = button.dataset.all === "open";
  });
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

for (const grid of document.querySelectorAll("table.heat")) {
  const rows = [...grid.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  const heads = [...grid.tHead.rows[0].querySelectorAll("th")];
  const readout = grid.closest("section").querySelector(".readout");
  if (!rows.length || !rows[0].length) continue;
  let at = [0, 0];

  const say = (cell) => { if (cell) readout.textContent = cell.title; };
  const go = (row, column) => {
    rows[at[0]][at[1]].tabIndex = -1;
    at = [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(rows[0].length - 1, column))];
    const cell = rows[at[0]][at[1]];
    cell.tabIndex = 0;
    cell.focus();
  };
  const mark = (cell, on) => {
    const column = cell.cellIndex - 1;
    if (heads[column]) heads[column].classList.toggle("on", on);
    cell.parentElement.cells[0].classList.toggle("on", on);
    if (on) say(cell);
  };

  rows[0][0].tabIndex = 0;
  grid.addEventListener("focusin", (event) => {
    const cell = event.target.closest("td.c");
    if (!cell) return;
    rows[at[0]][at[1]].tabIndex = -1;
    at = [rows.findIndex((row) => row.includes(cell)), cell.cellIndex - 1];
    cell.tabIndex = 0;
    mark(cell, true);
  });
  grid.addEventListener("focusout", (event) => { const cell = event.target.closest("td.c"); if (cell) mark(cell, false); });
  grid.addEventListener("mouseover", (event) => { const cell = event.target.closest("td.c"); if (cell) mark(cell, true); });
  grid.addEventListener("mouseout", (event) => { const cell = event.target.closest("td.c"); if (cell) mark(cell, false); });
  grid.addEventListener("click", (event) => { const cell = event.target.closest("td.c"); if (cell) go(rows.findIndex((row) => row.includes(cell)), cell.cellIndex - 1); });
  grid.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const [row, column] = at;
    if (event.key in steps) go(row + steps[event.key][0], column + steps[event.key][1]);
    else if (event.key === "Home") go(event.ctrlKey ? 0 : row, 0);
    else if (event.key === "End") go(event.ctrlKey ? rows.length - 1 : row, rows[0].length - 1);
    else return;
    event.preventDefault();
  });
}
document.documentElement.classList.add("scripted");
