// Browsers start no workers for pages from disk. There, a hidden frame runs the search instead; its
// class has the name that the search looks for.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const { contentWindow, contentDocument } = frame;
      contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = contentDocument.createElement("script");
      script.src = url;
      this.started = new Promise((resolve) => script.addEventListener("load", () => resolve(contentWindow)));
      contentDocument.body.append(script);
    }

    async postMessage(data) {
      (await this.started).dispatchEvent(new MessageEvent("message", { data }));
    }
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
}
