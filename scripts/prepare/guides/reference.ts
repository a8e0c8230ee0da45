import type { Node } from '../../../src/contract/document.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

interface Operation {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
}

/**
 * Writes a document with every operation of the contract, by its tag. Each leads to its place in the
 * reference, which has its fields and examples.
 */
export function operationsDocument(contract: Node): string {
  const operations = Object.entries(contract.paths as Readonly<Record<string, Node>>).flatMap(
    ([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method] as Operation | undefined
        return operation === undefined ? [] : [{ ...operation, path, method }]
      }),
  )
  const parts = [...Map.groupBy(operations, ({ tags }) => tags?.[0] ?? 'Others')].map(([tag, ofTag]) => {
    const rows = ofTag.map(
      ({ operationId, summary = '', description = '', path, method }) =>
        `### ${summary}\n\n\`${method.toUpperCase()} ${path}\` · [\`${operationId}\`](${referenceOf(tag, operationId)})\n\n${firstParagraph(description)}`,
    )
    return `## ${tag}\n\n${rows.join('\n\n')}`
  })
  return `# Operations\n\nEvery operation of the API. The [reference](/docs) has their fields and examples.\n\n${parts.join('\n\n')}\n`
}

/** The address of an operation in the reference: Redoc's. */
function referenceOf(tag: string, operationId: string): string {
  return `/docs#tag/${tag.replaceAll(' ', '-')}/operation/${operationId}`
}

function firstParagraph(description: string): string {
  return description.split('\n\n', 1)[0]?.replaceAll('\n', ' ').trim() ?? ''
}

/** Writes a document with every method of the TypeScript client, from the generated types. */
export function clientDocument(generated: string): string {
  const [, types = ''] = generated.split('export interface Resources {')
  const lines = types.split('\n').map((line) => {
    const [, resource] = /^ {2}readonly (\w+): \{$/.exec(line) ?? []
    if (resource !== undefined) return `\n## ${resource}\n`
    const [, words] = /^ {4}\/\*\* (.*) \*\/$/.exec(line) ?? []
    if (words !== undefined) return `${words}\n`
    return /^ {4}\w+\(/.test(line) ? `\`\`\`ts\n${line.trim()}\n\`\`\`\n` : ''
  })
  return `# Methods of the TypeScript client\n\nGenerated from the contract, as the [client](clients/typescript/README.md) has them.\n${lines.filter(Boolean).join('\n')}`
}
