/** The first packet of a PostgreSQL connection: length, protocol 3, and names with values, each ended by a zero byte. */

/** The parameters a client announces; none if the packet is something else, such as a request for TLS. */
export function startupParameters(packet: Buffer): Readonly<Record<string, string>> {
  if (packet.length < 8 || packet.readUInt16BE(4) !== 3) return {};
  const words = packet.subarray(8, packet.readUInt32BE(0)).toString("utf8").split("\0");
  const parameters: Record<string, string> = {};
  for (let index = 0; index + 1 < words.length; index += 2) {
    const [name = "", value = ""] = words.slice(index, index + 2);
    if (name !== "") parameters[name] = value;
  }
  return parameters;
}
