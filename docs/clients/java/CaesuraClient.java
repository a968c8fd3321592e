// Word events out, segments in: all that a client of Caesura does. docs/produce.md and docs/consume.md say why.
//
// java -cp 'lib/*' CaesuraClient.java speak BROKERS SESSION [msgpack|json]   words from standard input, a line an event
// java -cp 'lib/*' CaesuraClient.java listen BROKERS GROUP [TOPIC]           a line of JSON a segment, until it is ended
// java -cp 'lib/*' CaesuraClient.java again FILE...                          each message read, and written again

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.msgpack.jackson.dataformat.MessagePackFactory;

public final class CaesuraClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double SURE = 0.75;
    private static final ObjectMapper MSGPACK = new ObjectMapper(new MessagePackFactory());
    private static final Map<String, String> MARKS =
            Map.of("none", "", "comma", ",", "period", ".", "question", "?", "enumeration_comma", ",");

    /** A word that the recogniser will not revise; times in milliseconds from the session's start, null: unknown. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Word(String text, Long start_ms, Long end_ms, Double confidence) {
        public Word(String text) {
            this(text, null, null, null);
        }
    }

    /** An event; schemas/json/asr.words.schema.json has the fields that are left out here. */
    public record WordsEvent(
            String version, String session, long seq, String lang, List<Word> words, boolean session_end) {}

    /** What this client wants of a segment; what it does not know it passes over. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Segment(
            String session,
            long since,
            long index,
            String cause,
            List<SegmentWord> words,
            boolean session_end,
            Double turn_end) {
        /** The text for people: what was taken back and fillers left out, marks set. Spaced languages alone. */
        public String text() {
            return text(0);
        }

        /** The same without marks, and with all words, of which the model was less sure than this (0 to 1). */
        public String text(double least) {
            return words.stream()
                    .filter(word -> word.disfluency().equals("O") || below(word.disfluency_probability(), least))
                    .map(word -> word.text().replaceAll("[.,?!]+$", "")
                            + (below(word.punctuation_probability(), least) ? "" : MARKS.get(word.punctuation())))
                    .collect(Collectors.joining(" "));
        }

        private static boolean below(Double probability, double least) {
            return probability != null && probability < least;
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public record SegmentWord(
            String text,
            String punctuation,
            String disfluency,
            Double punctuation_probability,
            Double disfluency_probability) {}

    /** What a record of a translation route has besides: its text, and which parts of it replace words. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Rendered(String text, List<SegmentWord> words, List<Overlay> overlays) {
        /** What each overlay writes, and the words that it replaces. */
        public List<Replaced> replaced() {
            return overlays == null ? List.of() : overlays.stream().map(this::replaced).toList();
        }

        private Replaced replaced(Overlay overlay) {
            int start = text.offsetByCodePoints(0, overlay.start()); // a String counts UTF-16 units
            int end = text.offsetByCodePoints(start, overlay.end() - overlay.start());
            var said = words.subList(overlay.first_word(), overlay.last_word() + 1);
            return new Replaced(overlay.kind(), text.substring(start, end), said.stream().map(SegmentWord::text).toList());
        }
    }

    /** first_word to last_word, inclusive; start and end in code points of the text. */
    public record Overlay(String kind, int first_word, int last_word, int start, int end) {}

    public record Replaced(String kind, String written, List<String> words) {}

    /** What listen prints of a segment. turn_end: how probably the speaker had finished, where that is known. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Heard(
            String session,
            long index,
            String cause,
            boolean session_end,
            String text,
            List<String> words,
            Double turn_end) {}

    /** Returns the mapper for a record's value: JSON begins with a brace, as no MessagePack map does. */
    private static ObjectMapper mapperOf(byte[] value) {
        return value[0] == '{' ? JSON : MSGPACK;
    }

    /** A session's producer: numbers its events, and sends them in order to the session's partition. */
    public static final class Speaker implements AutoCloseable {
        private final KafkaProducer<String, byte[]> producer;
        private final String topic;
        private final String session;
        private final String lang;
        private final ObjectMapper wire;
        private long seq;

        public Speaker(String brokers, String topic, String session, String lang, boolean json) {
            // The key's murmur2 is Java's default partitioner, and the one that the worker expects.
            Map<String, Object> settings =
                    Map.of("bootstrap.servers", brokers, "acks", "all", "enable.idempotence", true, "linger.ms", 5);
            this.producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
            this.topic = topic;
            this.session = session;
            this.lang = lang;
            this.wire = json ? JSON : MSGPACK;
        }

        /** Sends words that will not be revised. */
        public void say(List<Word> words) throws IOException {
            send(words, false);
        }

        private void send(List<Word> words, boolean last) throws IOException {
            byte[] value = wire.writeValueAsBytes(new WordsEvent("1.3", session, seq++, lang, words, last));
            var sent = producer.send(new ProducerRecord<>(topic, session, value));
            if (last) {
                try {
                    sent.get(); // the events before it have arrived by then
                } catch (InterruptedException | ExecutionException error) {
                    throw new IOException("the session's end was not taken", error);
                }
            }
        }

        /** Ends the session, and returns once the brokers have all of it. */
        public void end() throws IOException {
            send(List.of(), true);
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    /** Gives each committed segment of a topic, from its beginning on, once; does not return. */
    public static void listen(String brokers, String group, String topic, Consumer<Segment> take) throws IOException {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", brokers,
                "group.id", group,
                "isolation.level", "read_committed", // Java's default reads what was aborted, too
                "auto.offset.reset", "earliest",
                "enable.auto.commit", false);
        Map<String, Segment> last = new HashMap<>(); // by session: a crash between work and commit reads some again
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (true) {
                for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    Segment segment = mapperOf(record.value()).readValue(record.value(), Segment.class);
                    Segment before = last.get(segment.session());
                    if (before != null && before.since() == segment.since() && segment.index() <= before.index()) {
                        continue;
                    }
                    take.accept(segment);
                    last.put(segment.session(), segment);
                }
                consumer.commitSync();
            }
        }
    }

    private static void print(Object line) {
        try {
            System.out.println(JSON.writeValueAsString(line));
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void speak(String brokers, String session, boolean json) throws IOException {
        String topic = System.getenv().getOrDefault("CAESURA_TOPIC", "asr.words");
        String lang = System.getenv().getOrDefault("CAESURA_LANG", "en");
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var speaker = new Speaker(brokers, topic, session, lang, json)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                speaker.say(Arrays.stream(line.split("\\s+")).filter(text -> !text.isEmpty()).map(Word::new).toList());
            }
            speaker.end();
        }
    }

    private static void again(List<String> files) throws IOException {
        for (String file : files) {
            byte[] value = Files.readAllBytes(Path.of(file));
            JsonNode message = mapperOf(value).readTree(value);
            String written = Base64.getEncoder().encodeToString(MSGPACK.writeValueAsBytes(message));
            Map<String, Object> line = new HashMap<>(Map.of("file", file, "msgpack", written, "json", message));
            if (message.has("index")) {
                Segment segment = JSON.convertValue(message, Segment.class);
                line.put("sure_text", segment.text(SURE));
                line.put("turn_end", segment.turn_end());
            }
            if (message.has("target")) {
                line.put("overlays", JSON.convertValue(message, Rendered.class).replaced());
            }
            print(line);
        }
    }

    public static void main(String[] given) throws IOException {
        List<String> rest = List.of(given).subList(Math.min(1, given.length), given.length);
        switch (given.length == 0 ? "" : given[0]) {
            case "speak" -> speak(rest.get(0), rest.get(1), rest.size() > 2 && rest.get(2).equals("json"));
            case "listen" -> listen(rest.get(0), rest.get(1), rest.size() > 2 ? rest.get(2) : "asr.segments", segment -> print(
                    new Heard(segment.session(), segment.index(), segment.cause(), segment.session_end(), segment.text(),
                            segment.words().stream().map(SegmentWord::text).toList(), segment.turn_end())));
            case "again" -> again(rest);
            default -> {
                System.err.println("usage: java -cp 'lib/*' CaesuraClient.java speak|listen|again ...");
                System.exit(2);
            }
        }
    }
}
