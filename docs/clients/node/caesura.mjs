// Word events out, segments in: all that a client of Caesura does. docs/produce.md and docs/consume.md say why.

import { decode, encode } from "@msgpack/msgpack";
import { Consumer, FetchIsolationLevels, Producer, compatibilityPartitioner } from "@platformatic/kafka";

const OPENING_BRACE = 0x7b; // no MessagePack map begins with it

/** Returns what a record's value holds, MessagePack or JSON. */
export function read(value) {
  return value[0] === OPENING_BRACE ? JSON.parse(value.toString("utf8")) : decode(value);
}

/** Returns a message as a record's value. wire: "msgpack" or "json". */
export function write(message, wire = "msgpack") {
  return Buffer.from(wire === "json" ? JSON.stringify(message) : encode(message, { ignoreUndefined: true }));
}

/**
 * Returns a segment's text for people: what was taken back and fillers left out, marks set. Spaced languages alone.
 * least: without marks, and with all words, of which the model was less sure than this (0 to 1).
 */
export function textOf(segment, least = 0) {
  const marks = { none: "", comma: ",", period: ".", question: "?", enumeration_comma: "," };
  const sure = (probability) => (probability ?? 1) >= least;
  return segment.words
    .filter((word) => word.disfluency === "O" || !sure(word.disfluency_probability))
    .map((word) => word.text.replace(/[.,?!]+$/, "") + (sure(word.punctuation_probability) ? marks[word.punctuation] : ""))
    .join(" ");
}

/** Returns what each overlay of a route's record writes, and the words that it replaces. */
export function replacedIn({ text, words, overlays = [] }) {
  const points = [...text]; // code points; a string counts UTF-16 units
  return overlays.map(({ kind, first_word, last_word, start, end }) => ({
    kind,
    written: points.slice(start, end).join(""),
    words: words.slice(first_word, last_word + 1).map((word) => word.text),
  }));
}

/** A session's producer: numbers its events, and sends them in order to the session's partition. */
export class Speaker {
  #producer;
  #seq = 0;

  constructor(bootstrapBrokers, session, { lang = "en", topic = "asr.words", wire = "msgpack" } = {}) {
    Object.assign(this, { session, lang, topic, wire });
    this.#producer = new Producer({
      clientId: "caesura-speaker",
      bootstrapBrokers,
      idempotent: true,
      acks: -1,
      // Java's murmur2, which the worker expects (worker.partitioner); this library's default is another.
      partitioner: compatibilityPartitioner,
    });
  }

  /** Sends words that will not be revised: texts, or objects with text, start_ms, end_ms, confidence. */
  async say(words, rest = {}) {
    const event = {
      version: "1.3",
      session: this.session,
      seq: this.#seq++,
      lang: this.lang,
      words: words.map((word) => (typeof word === "string" ? { text: word } : word)),
      ...rest,
    };
    const message = { topic: this.topic, key: Buffer.from(this.session), value: write(event, this.wire) };
    await this.#producer.send({ messages: [message] });
  }

  /** Ends the session and lets the broker go. */
  async end() {
    await this.say([], { session_end: true });
    await this.#producer.close();
  }
}

/** Yields segments from a topic's beginning on, committed ones only, each once. Leave the loop to end. */
export async function* segments(bootstrapBrokers, { topic = "asr.segments", groupId = "caesura-reader" } = {}) {
  const consumer = new Consumer({ clientId: "caesura-reader", groupId, bootstrapBrokers });
  const stream = await consumer.consume({
    topics: [topic],
    mode: "committed",
    fallbackMode: "earliest",
    isolationLevel: FetchIsolationLevels.READ_COMMITTED,
    autocommit: true,
  });
  const last = new Map(); // by session: a crash between work and commit reads some again
  try {
    for await (const record of stream) {
      const segment = read(record.value);
      const before = last.get(segment.session);
      if (before && before.since === segment.since && segment.index <= before.index) continue;
      last.set(segment.session, { since: segment.since, index: segment.index });
      yield segment;
      if (segment.session_end) last.delete(segment.session);
    }
  } finally {
    await stream.close();
    await consumer.close(true);
  }
}
