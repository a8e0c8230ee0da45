import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Words that continue a sentence of another title. No title begins with one. */
const CONTINUATIONS = 'and|or|nor|but|then|also'

/**
 * Words that have no subject. A title begins with one only in a `describe`, whose title then is the subject.
 */
const PREDICATES =
  'so|it|its|whose|which|that|these|those|is|are|was|were|has|have|does|still|likewise|otherwise|even'

const CONTINUATION = new RegExp(`^(?:${CONTINUATIONS})\\b`)
const PREDICATE = new RegExp(`^(?:${PREDICATES})\\b`)

interface TitledCall {
  readonly name: string
  readonly title: string
  readonly start: number
}

/**
 * One sentence for each title of a test in these files, by path under `root`, that is a fragment of a
 * sentence.
 */
export function findTitleFragments(root: string, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    if (!/\b(?:describe|test)[.(]/.test(text)) return []
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
    const found: string[] = []
    const visit = (node: ts.Node, isInDescribe: boolean): void => {
      const call = titledCall(node)
      const problem = call && problemOf(call.title, isInDescribe)
      if (call && problem) {
        const line = source.getLineAndCharacterOfPosition(call.start).line + 1
        found.push(`${file}:${line}: the title "${call.title}" ${problem}`)
      }
      // No test is inside a test.
      if (call?.name === 'test') return
      ts.forEachChild(node, (child) => visit(child, isInDescribe || call?.name === 'describe'))
    }
    visit(source, false)
    return found
  })
}

function problemOf(title: string, isInDescribe: boolean): string | undefined {
  const [first] = title.split(' ', 1)
  if (CONTINUATION.test(title)) return `begins with "${first}": a title is a sentence of its own`
  if (!isInDescribe && PREDICATE.test(title)) return `begins with "${first}": a title has a subject`
  return undefined
}

/**
 * Reads `test('title', …)` and `describe.each(…)('title', …)`, or returns undefined if a node is no such
 * call.
 */
function titledCall(node: ts.Node): TitledCall | undefined {
  if (!ts.isCallExpression(node)) return undefined
  const [argument] = node.arguments
  if (argument === undefined) return undefined
  const text = ts.isTemplateExpression(argument) ? argument.head : argument
  if (!ts.isStringLiteralLike(text) && !ts.isTemplateHead(text)) return undefined
  let callee: ts.Node = node.expression
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression
  const name = callee.getText()
  return name === 'test' || name === 'describe'
    ? { name, title: text.text, start: text.getStart() }
    : undefined
}
