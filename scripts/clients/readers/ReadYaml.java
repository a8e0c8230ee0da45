import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.yaml.snakeyaml.Yaml;

/** Fails when SnakeYAML does not find in openapi.yaml what the service serves as openapi.json. */
class ReadYaml {
  public static void main(String[] files) throws IOException {
    // JSON is YAML, too, so that numbers have the same types on both sides.
    if (!read(files[0]).equals(read(files[1]))) throw new IllegalStateException("SnakeYAML reads another document");
  }

  private static Object read(String file) throws IOException {
    return new Yaml().load(Files.readString(Path.of(file)));
  }
}
