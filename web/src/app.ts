document.getElementById("view")!.textContent = "Ridgeline";
