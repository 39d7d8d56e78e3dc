/**
 * Why the host did not start.
 *
 * | code | when |
 * |---|---|
 * | EAppDir | the directory does not exist or holds no function app |
 * | EPort | the address or port can't be listened on (`cause` has the socket's error) |
 * | EJson | host.json, local.settings.json or package.json is no valid JSON |
 * | EConfig | a value in one of them is wrong |
 * | EMain | package.json has no `main`, or no file matches it |
 * | EEntry | an entry file threw while it was loaded, or an appStart hook did |
 * | ENoFunctions | the entry files registered nothing |
 * | EFunction | a function's name, route or binding is wrong, or two have one name |
 * | ESetting | an app setting that a binding names is missing, empty or wrong |
 * | EWorker | the worker process could not be started, or died before it was ready |
 */
export type HostStartErrorCode =
  | 'EAppDir'
  | 'EPort'
  | 'EJson'
  | 'EConfig'
  | 'EMain'
  | 'EEntry'
  | 'ENoFunctions'
  | 'EFunction'
  | 'ESetting'
  | 'EWorker';

/** The message is for the developer: it names what is wrong, where, and the remedy; it may have several lines. */
export class HostStartError extends Error {
  override readonly name = 'HostStartError';
  readonly code: HostStartErrorCode;

  constructor(code: HostStartErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
