/** Takes a few whole lines, each with its line end. */
export type WriteText = (text: string) => void;

/** Long enough to gather the lines of many requests, short enough to look immediate. */
const flushMs = 20;
const flushCharacters = 64 * 1024;

/**
 * Collects log lines and writes them in batches: a write for each line would cost a loaded host more than its requests.
 */
export class LogWriter {
  readonly verbose: boolean;
  readonly #write: WriteText;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(write: WriteText, verbose: boolean) {
    this.#write = write;
    this.verbose = verbose;
  }

  /** `message` may have several lines; each gets the time, as in Core Tools. */
  line(message: string): void {
    const stamp = `[${new Date().toISOString()}] `;
    this.#text += `${stamp}${message.includes('\n') ? message.trimEnd().replaceAll('\n', `\n${stamp}`) : message}\n`;
    if (this.#text.length > flushCharacters) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushMs);
  }

  debug(message: string): void {
    if (this.verbose) this.line(message);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#write(text);
  }
}
