/** A batch of a T-SQL script: what is sent to the server in one message. */
export interface Batch {
  readonly text: string;
  /** 1-based line of the script where the batch begins; the server counts a batch's lines from 1. */
  readonly firstLine: number;
  /** How often it runs: `GO 5` runs the batch before it five times. */
  readonly count: number;
}

/** `GO` alone on its line, perhaps with a count, as sqlcmd and SSMS take it. It is theirs, not T-SQL's. */
const separator = /^[ \t]*GO(?:[ \t]+(\d+))?[ \t]*;?[ \t]*(?:--.*)?$/i;

/**
 * Splits a script at its GO lines. A GO within a string, a quoted name or a block comment separates nothing.
 * Batches of white space and comments only are left out.
 */
export function splitBatches(script: string): Batch[] {
  const lines = script.replace(/^\uFEFF/, '').split(/\r?\n/);
  const batches: Batch[] = [];
  let start = 0;
  let state = initialState;
  const finish = (end: number, count: number) => {
    const text = lines.slice(start, end).join('\n');
    if (hasStatements(text)) batches.push({ text, firstLine: start + 1, count });
  };
  lines.forEach((line, index) => {
    const match = state === initialState ? separator.exec(line) : null;
    if (match) {
      finish(index, match[1] === undefined ? 1 : Number(match[1]));
      start = index + 1;
    } else {
      state = scan(line, state).state;
    }
  });
  finish(lines.length, 1);
  return batches;
}

/** What the text is in: the closing character of a string or quoted name, or the depth of block comments. */
interface State {
  readonly closing: "'" | '"' | ']' | undefined;
  readonly comments: number;
}

const initialState: State = { closing: undefined, comments: 0 };

function hasStatements(text: string): boolean {
  let state = initialState;
  for (const line of text.split('\n')) {
    const scanned = scan(line, state);
    if (scanned.code) return true;
    state = scanned.state;
  }
  return false;
}

/** Goes through one line; `code` says whether something other than white space and comments stood in it. */
function scan(line: string, before: State): { state: State; code: boolean } {
  let { closing, comments } = before;
  let code = closing !== undefined;
  for (let i = 0; i < line.length; i++) {
    const char = line[i] as string;
    const pair = line.slice(i, i + 2);
    if (comments > 0) {
      // T-SQL's block comments nest.
      if (pair === '/*') comments++;
      else if (pair === '*/') comments--;
      if (pair === '/*' || pair === '*/') i++;
    } else if (closing !== undefined) {
      // A doubled bracket is one within the name; doubled quotes close and open again by themselves.
      if (pair === ']]' && closing === ']') i++;
      else if (char === closing) closing = undefined;
    } else if (pair === '--') {
      break;
    } else if (pair === '/*') {
      comments++;
      i++;
    } else {
      if (char === "'" || char === '"') closing = char;
      else if (char === '[') closing = ']';
      if (char.trim() !== '') code = true;
    }
  }
  const same = closing === undefined && comments === 0;
  return { state: same ? initialState : { closing, comments }, code };
}
