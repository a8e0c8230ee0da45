/** A line with a sample: the name of the metric, its labels, its value. */
const SAMPLE = /^(\w+)\{(.*)\} /

const RELAYER_LABEL = /(?:^|,)relayer_id="([^"]*)"/

/** A line that describes a metric. */
const DESCRIPTION = /^# (?:HELP|TYPE) /

/**
 * Takes the samples of other relayers out of a text of metrics, and those that are of no relayer: they count what all keys do. A metric of
 * which nothing is left loses its description, too.
 */
export function visibleSeries(text: string, relayerIds: ReadonlySet<string>): string {
  const shown: string[] = []
  let descriptions: string[] = []
  for (const line of text.split('\n')) {
    if (DESCRIPTION.test(line)) {
      if (line.startsWith('# HELP ')) descriptions = []
      descriptions.push(line)
    } else if (isOf(line, relayerIds)) {
      shown.push(...descriptions, line)
      descriptions = []
    }
  }
  return shown.map((line) => `${line}\n`).join('')
}

function isOf(line: string, relayerIds: ReadonlySet<string>): boolean {
  const [, , labels = ''] = SAMPLE.exec(line) ?? []
  const [, id] = RELAYER_LABEL.exec(labels) ?? []
  return id !== undefined && relayerIds.has(id)
}
