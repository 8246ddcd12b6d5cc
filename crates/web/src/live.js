// Follows a run under way: puts what the server tells of it into the page, and loads the page anew at the run's end.
"use strict";
const view = document.getElementById("live");
const told = document.getElementById("told");
const source = new EventSource(view.dataset.events);
source.addEventListener("view", (event) => {
  view.innerHTML = JSON.parse(event.data).html;
  told.textContent = "";
});
source.addEventListener("end", () => {
  source.close();
  location.reload();
});
source.onerror = () => {
  told.textContent = "fathom ui does not answer any more: start it again, and open the address it prints.";
};
