let viewed: Buffer | undefined;
let view: DataView = new DataView(new ArrayBuffer(0));

/**
 * The same bytes, for words at any address: an Int32Array needs aligned ones, and Buffer's own methods check their arguments each time.
 * One for each packet, as the values of a packet are read one after the other.
 */
export function viewOf(source: Buffer): DataView {
  if (source !== viewed) {
    viewed = source;
    view = new DataView(source.buffer, source.byteOffset, source.length);
  }
  return view;
}
