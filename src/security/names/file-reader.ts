import { readFile, stat } from 'node:fs/promises'

/**
 * Creates a reader of a small file of the system. It parses the file again only when its time of change or its length differs. A file
 * that cannot be read counts as empty: many containers lack it.
 */
export function createFileReader<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let known: { readonly version: string; readonly content: T } | undefined
  return async () => {
    const version = await versionOf(path)
    if (known?.version === version) return known.content
    const content = parse(await readFile(path, 'utf8').catch(() => ''))
    known = { version, content }
    return content
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'unreadable'
  }
}
