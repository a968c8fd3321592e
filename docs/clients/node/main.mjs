// node main.mjs speak BROKERS SESSION [msgpack|json]   words from standard input, a line an event
// node main.mjs listen BROKERS GROUP [TOPIC]           a line of JSON a segment, until SIGINT
// node main.mjs again FILE...                          each message read, and written again (base64), a line of JSON each

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Speaker, read, segments, textOf, write } from "./caesura.mjs";

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
    const { session, index, cause, session_end = false } = segment;
    const words = segment.words.map((word) => word.text);
    console.log(JSON.stringify({ session, index, cause, session_end, words, text: textOf(segment) }));
  }
} else if (command === "again") {
  for (const file of given) {
    const message = read(readFileSync(file));
    const sure_text = "index" in message ? textOf(message, SURE) : "";
    console.log(JSON.stringify({ file, msgpack: write(message).toString("base64"), json: message, sure_text }));
  }
} else {
  console.error("usage: node main.mjs speak|listen|again ...");
  process.exit(2);
}
