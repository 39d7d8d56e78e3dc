/** What the room uses of tedious's public API, loaded from here alone: an import elsewhere could come before what has to precede it. */
import './lazy-identity.js';

export { Connection, Request } from 'tedious';
