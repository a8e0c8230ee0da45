import { isAlias, isMap, isScalar, LineCounter, type Pair, parseDocument, type Scalar, visit } from 'yaml'

/**
 * Lines of openapi.yaml. A longer contract is read by no one as a whole: shorten examples and descriptions,
 * or move explanations to docs/. It was 9,000 before receipts, whose logs and events need schemas of their
 * own for three kinds of network, before relayers with several accounts, and before plugins, x402, sponsored
 * transactions and keys that key services create, which are operations of their own.
 */
const MAX_LINES = 11_928

/**
 * Lines of the description of one operation: what it does, when it refuses, and what it returns. The rest
 * belongs to docs/.
 */
const MAX_PROSE_LINES = 25

/**
 * SnakeYAML, with which the tools of Java read YAML, refuses a document with more aliases of mappings and
 * lists. Aliases of texts are free.
 */
const MAX_COLLECTION_ALIASES = 50

/** One sentence for each rule about the form of openapi.yaml that `yaml` breaks. */
export function findContractViolations(yaml: string): string[] {
  const lineCounter = new LineCounter()
  const document = parseDocument(yaml, { lineCounter })
  const violations: string[] = []
  const lines = yaml.trimEnd().split('\n').length
  if (lines > MAX_LINES) violations.push(`openapi.yaml has ${lines} lines; at most ${MAX_LINES} are allowed`)
  let aliases = 0
  visit(document, {
    Alias(_key, node) {
      if (!isScalar(node.resolve(document))) aliases += 1
    },
    Pair(_key, pair) {
      const line = lineCounter.linePos(startOf(pair)).line
      if (nameOf(pair) === '<<') violations.push(`${line}: a merge key, which YAML 1.2 does not have`)
      const operation = isMap(pair.value) ? pair.value.get('operationId') : undefined
      const description = isMap(pair.value) ? pair.value.get('description', true) : undefined
      // Links name an operation as well; only operations themselves have responses.
      if (operation === undefined || !isMap(pair.value) || !pair.value.has('responses')) return
      const prose = isScalar(description) ? linesOf(yaml, description) : 0
      if (prose > MAX_PROSE_LINES)
        violations.push(
          `${line}: the description of ${operation} has ${prose} lines; at most ${MAX_PROSE_LINES} are allowed`,
        )
    },
  })
  if (aliases > MAX_COLLECTION_ALIASES)
    violations.push(
      `openapi.yaml has ${aliases} aliases of mappings and lists; at most ${MAX_COLLECTION_ALIASES} are allowed`,
    )
  return violations
}

function nameOf({ key }: Pair): unknown {
  return isScalar(key) ? key.value : undefined
}

function startOf({ key }: Pair): number {
  return isScalar(key) || isMap(key) || isAlias(key) ? (key.range?.[0] ?? 0) : 0
}

/** Lines of a text as it stands in the file, blank ones between its paragraphs included. */
function linesOf(yaml: string, { range, type }: Scalar): number {
  if (!range) return 0
  const lines = yaml.slice(range[0], range[1]).trimEnd().split('\n').length
  // The first line of a block is its header, `|`.
  return type?.startsWith('BLOCK') ? lines - 1 : lines
}
