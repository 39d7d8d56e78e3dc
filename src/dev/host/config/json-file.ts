import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostStartError } from '../start-error.js';
import { JsonError, type JsonNode, readJson } from './json-reader.js';

/** A JSON file of the app; wrong values in it are reported with file and line. */
export class JsonFile {
  readonly path: string;
  readonly root: Map<string, JsonNode>;

  /** @throws HostStartError `EJson` */
  constructor(path: string, text: string) {
    this.path = path;
    try {
      const node = readJson(text);
      if (!(node.value instanceof Map)) throw new JsonError('It must be an object, { ... }.', node.line, 1);
      this.root = node.value;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new HostStartError(
        'EJson',
        `${path}:${error.line}:${error.column} is not valid JSON. ${error.message}`,
        error,
      );
    }
  }

  /** Follows property names, whatever their case, as .NET configuration does. */
  node(...names: readonly string[]): JsonNode | undefined {
    let members: JsonNode['value'] | undefined = this.root;
    let node: JsonNode | undefined;
    for (const name of names) {
      if (!(members instanceof Map)) return undefined;
      node = member(members, name);
      members = node?.value;
    }
    return node;
  }

  object(...names: readonly string[]): Map<string, JsonNode> {
    const node = this.node(...names);
    if (node === undefined || node.value === null) return new Map();
    if (node.value instanceof Map) return node.value;
    throw this.wrong(node, names, 'must be an object, { ... }');
  }

  string(...names: readonly string[]): string | undefined {
    const node = this.node(...names);
    if (node === undefined || node.value === null) return undefined;
    if (typeof node.value === 'string') return node.value;
    throw this.wrong(node, names, 'must be a string');
  }

  /** -1 means that there is no limit, as host.json has it. */
  limit(...names: readonly string[]): number | undefined {
    const node = this.node(...names);
    if (node === undefined || node.value === null) return undefined;
    const { value } = node;
    if (typeof value === 'number' && Number.isInteger(value) && (value === -1 || value > 0)) {
      return value === -1 ? undefined : value;
    }
    throw this.wrong(node, names, 'must be a whole number over 0, or -1 for no limit');
  }

  boolean(...names: readonly string[]): boolean | undefined {
    const node = this.node(...names);
    if (node === undefined || node.value === null) return undefined;
    if (typeof node.value === 'boolean') return node.value;
    throw this.wrong(node, names, 'must be true or false');
  }

  wrong(node: JsonNode, names: readonly string[], reason: string): HostStartError {
    return new HostStartError('EConfig', `${this.path}:${node.line}: ${names.join('.')} ${reason}.`);
  }
}

function member(members: Map<string, JsonNode>, name: string): JsonNode | undefined {
  const exact = members.get(name);
  if (exact) return exact;
  const lower = name.toLowerCase();
  for (const [key, node] of members) if (key.toLowerCase() === lower) return node;
  return undefined;
}

/** Undefined when the app has no such file. */
export function readJsonFile(appDir: string, name: string): JsonFile | undefined {
  const path = join(appDir, name);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new HostStartError('EAppDir', `${path} can't be read: ${(error as Error).message}`, error);
  }
  return new JsonFile(path, text);
}
