/* Browsers refuse workers to pages that are opened as files.  There the worker of the search
   runs in a hidden frame instead; the theme would load such a script from elsewhere. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const outside = this;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        outside.dispatchEvent(event);
        if (outside.onmessage) outside.onmessage(event);
      };
      this.deliver = (data) => inside.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      this.ready = new Promise((done) => { script.onload = done; });
      script.src = url;
      inside.document.body.appendChild(script);
    }
    postMessage(data) { this.ready.then(() => this.deliver(data)); }
    terminate() {}
  };
}
