// Where the site is opened as files, browsers refuse workers: the search runs in a frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #loaded;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source === inside) {
          const message = new MessageEvent("message", { data: event.data });
          this.dispatchEvent(message);
          this.onmessage?.(message);
        }
      });
      this.#loaded = new Promise((resolve) => {
        const script = (source) => `<script src="${source}"></${"script"}>`;
        inside.document.open();
        inside.document.write(`<script>
          self.postMessage = (data) => parent.postMessage(data, "*");
          self.importScripts = (...sources) => sources.reduce(
            (before, source) => before.then(() => new Promise((done) => {
              const script = document.createElement("script");
              script.src = source;
              script.onload = done;
              document.body.append(script);
            })), Promise.resolve());
          </${"script"}>${script(url)}`);
        inside.document.close();
        inside.addEventListener("load", resolve);
      });
    }

    postMessage(data) {
      const inside = this.#frame.contentWindow;
      const copy = structuredClone(data); // as a worker gets it: the search changes what it is sent
      this.#loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data: copy })));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
