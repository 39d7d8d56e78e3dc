import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { replaceBetweenMarkers, writeBetweenMarkers } from '../docs/markers.js';
import { functionNames } from '../tsql/functions.js';
import { refusedMarkdown, supportedMarkdown } from '../tsql/support.js';
import { viewNames } from '../tsql/views.js';
import { type Command, parseOptions } from './command.js';

const help = `Usage: npm run docs -- [--check]

Writes the generated parts of the documents anew, from the code that knows them.

  --check   write nothing; exit with 1 and the names of the parts that are out of date
  --help    this text`;

/** A part of a document that is generated: the name of its markers, and what stands between them. */
interface Part {
  readonly file: string;
  readonly name: string;
  readonly content: () => Promise<string>;
}

const parts: readonly Part[] = [
  {
    file: 'README.md',
    name: 'BlogAsync',
    content: async () => {
      const code = await readFile(join('src', 'functions', 'BlogAsync.ts'), 'utf8');
      return `\`\`\`ts\n// src/functions/BlogAsync.ts\n${code.trim()}\n\`\`\``;
    },
  },
  {
    file: 'docs/embedded-sql-server.md',
    name: 'supported',
    content: async () => supportedMarkdown(functionNames(), viewNames()).join('\n'),
  },
  { file: 'docs/embedded-sql-server.md', name: 'refused', content: async () => refusedMarkdown().join('\n') },
];

export const docs: Command = {
  summary: 'writes the generated parts of the documents anew',

  async run(args) {
    const values = parseOptions(
      args,
      { check: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
      help,
    );
    if (values.help) {
      console.log(help);
      return 0;
    }
    const stale: string[] = [];
    for (const { file, name, content } of parts) {
      const path = resolve(file);
      if (values.check) {
        const text = await readFile(path, 'utf8');
        if (replaceBetweenMarkers(text, name, await content(), file) !== text) stale.push(`${file}: ${name}`);
      } else if (await writeBetweenMarkers(path, name, await content())) {
        console.log(`${file}: ${name}`);
      }
    }
    for (const part of stale) console.error(`${part} is out of date; run npm run docs.`);
    return stale.length > 0 ? 1 : 0;
  },
};
