// node main.mjs speak BROKERS SESSION [msgpack|json]   words from standard input, a line an event
// node main.mjs listen BROKERS GROUP [TOPIC]           a line of JSON a segment, until SIGINT
// node main.mjs again FILE...                          each message read, and written again (base64), a line of JSON each

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Speaker, read, replacedIn, segments, textOf, write } from "./caesura.mjs";

const SURE = 0.75;
const [command, ...given] = process.argv.slice(2);

if (command === "speak") {
  const [brokers, session, wire] = given;
  const { CAESURA_TOPIC: topic, CAESURA_LANG: lang } = process.env;
  const speaker = new Speaker(brokers.split(","), session, { wire, topic, lang });
  for await (const line of createInterface({ input: process.stdin })) {
    await speaker.say(line.split(/\s+/).filter(Boolean));
  }
  await speaker.end();
} else if (command === "listen") {
  const [brokers, groupId, topic] = given;
  for await (const segment of segments(brokers.split(","), { groupId, topic })) {
    // turn_end: how probably the speaker had finished, where that is known
    const { session, index, cause, session_end = false, turn_end } = segment;
    const words = segment.words.map((word) => word.text);
    console.log(JSON.stringify({ session, index, cause, session_end, words, text: textOf(segment), turn_end }));
  }
} else if (command === "again") {
  for (const file of given) {
    const message = read(readFileSync(file));
    const { turn_end } = message;
    const sure_text = "index" in message ? textOf(message, SURE) : undefined;
    const overlays = "target" in message ? replacedIn(message) : undefined;
    const msgpack = write(message).toString("base64");
    console.log(JSON.stringify({ file, msgpack, json: message, sure_text, turn_end, overlays }));
  }
} else {
  console.error("usage: node main.mjs speak|listen|again ...");
  process.exit(2);
}
