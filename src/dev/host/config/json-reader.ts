/** A JSON value that knows the line on which it begins, so that whatever is wrong with it can be pointed at. */
export interface JsonNode {
  readonly line: number;
  readonly value: string | number | boolean | null | JsonNode[] | Map<string, JsonNode>;
}

export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/**
 * Reads JSON as the Functions host does, with Newtonsoft.Json: comments and trailing commas are allowed.
 *
 * @throws JsonError
 */
export function readJson(text: string): JsonNode {
  const reader = new Reader(text.replace(/^\uFEFF/, ''));
  const node = reader.value();
  reader.end();
  return node;
}

const token = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/y;
const skipped = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsonNode {
    const start = this.#peekStart();
    const text = this.#next();
    const { line } = this.#position(start);
    if (text === '{') return { line, value: this.#object(start) };
    if (text === '[') return { line, value: this.#array(start) };
    if (text === '' || '}],:'.includes(text)) throw this.#error(this.#found('a value', text, start), start);
    return { line, value: this.#literal(text, start) };
  }

  end(): void {
    const start = this.#peekStart();
    if (start < this.#text.length) throw this.#error('There is text after the end of the JSON value.', start);
  }

  #object(open: number): Map<string, JsonNode> {
    const members = new Map<string, JsonNode>();
    for (;;) {
      const start = this.#peekStart();
      const text = this.#next();
      if (text === '}') return members;
      if (text === '') throw this.#error('The object that begins here has no closing }.', open);
      if (!text.startsWith('"')) {
        throw this.#error(this.#found('a property name in double quotes, or }', text, start), start);
      }
      const colon = this.#peekStart();
      const name = this.#literal(text, start) as string;
      if (this.#next() !== ':') throw this.#error(`There is no : after the property name ${text}.`, colon);
      members.set(name, this.value());
      if (this.#separator('}', open) === '}') return members;
    }
  }

  #array(open: number): JsonNode[] {
    const items: JsonNode[] = [];
    for (;;) {
      this.#peekStart();
      if (this.#text[this.#at] === ']') {
        this.#at++;
        return items;
      }
      items.push(this.value());
      if (this.#separator(']', open) === ']') return items;
    }
  }

  #separator(close: '}' | ']', open: number): string {
    const previousEnd = this.#at;
    const start = this.#peekStart();
    const text = this.#next();
    if (text === ',' || text === close) return text;
    if (text === '') throw this.#error(`What begins here has no closing ${close}.`, open);
    // The missing comma belongs after the value before, which is most often on the line above.
    throw this.#error(this.#found(`, or ${close}`, text, start), previousEnd);
  }

  #literal(text: string, start: number): string | number | boolean | null {
    try {
      return JSON.parse(text) as string | number | boolean | null;
    } catch {
      throw this.#error(`${text} is not valid JSON.`, start);
    }
  }

  #peekStart(): number {
    skipped.lastIndex = this.#at;
    skipped.exec(this.#text);
    this.#at = skipped.lastIndex;
    return this.#at;
  }

  /** Empty at the end of the text. */
  #next(): string {
    this.#peekStart();
    if (this.#at >= this.#text.length) return '';
    token.lastIndex = this.#at;
    const text = token.exec(this.#text)?.[0];
    if (text === undefined) throw this.#error(this.#found('JSON', this.#rest(), this.#at), this.#at);
    this.#at = token.lastIndex;
    return text;
  }

  #rest(): string {
    return (/^\S{1,20}/.exec(this.#text.slice(this.#at))?.[0] ?? '').trim();
  }

  #found(expected: string, text: string, _start: number): string {
    return text === '' ? `The text ends where ${expected} should be.` : `Expected ${expected}, found ${text}`;
  }

  #position(offset: number): { line: number; column: number } {
    const before = this.#text.slice(0, offset).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }

  #error(message: string, offset: number): JsonError {
    const { line, column } = this.#position(Math.min(offset, this.#text.length));
    return new JsonError(message, line, column);
  }
}
