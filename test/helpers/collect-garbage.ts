import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Contexts made from now on have it, whatever flags the process was started with.
setFlagsFromString('--expose-gc');

/** Collects the whole heap now. */
export const collectGarbage = runInNewContext('gc') as () => void;
