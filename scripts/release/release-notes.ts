/**
 * Returns the section of a changelog about a version: what stands below `## 1.2.0` or `## 1.2.0 - 2026-01-31`, up to the next heading of that
 * level.
 *
 * @throws Error if there is no such section, or nothing in it
 */
export function releaseNotes(changelog: string, version: string): string {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => headedBy(line) === version)
  if (start === -1)
    throw new Error(`CHANGELOG.md has no section "## ${version}". Rename "## Unreleased" to it.`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const notes = lines
    .slice(start + 1, length === -1 ? undefined : start + 1 + length)
    .join('\n')
    .trim()
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}.`)
  return `${notes}\n`
}

/** The version that a heading names, with or without brackets and a date. */
function headedBy(line: string): string | undefined {
  return /^## \[?([^\s\]]+)\]?(?: - \d{4}-\d{2}-\d{2})?$/.exec(line)?.[1]
}

/**
 * Returns the version of a tag such as `v1.2.0`.
 *
 * @throws Error if a file names another version
 */
export function versionOfTag(tag: string, versions: Readonly<Record<string, string>>): string {
  const version = tag.replace(/^v/, '')
  const others = Object.entries(versions).filter(([, found]) => found !== version)
  if (others.length === 0) return version
  const said = others.map(([file, found]) => `${file} says ${found}`).join(', ')
  throw new Error(`The tag is ${tag}, but ${said}.`)
}
