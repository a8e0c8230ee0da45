import { renderMermaidSVG } from 'beautiful-mermaid'

/**
 * Draws a Mermaid diagram as SVG. The colours and the font of the drawing are in the style sheet of the
 * guides, because a page's content security policy allows neither styles in the page nor fonts of other hosts.
 *
 * @throws {Error} if the library cannot read the diagram.
 */
export function drawDiagram(source: string): string {
  return renderMermaidSVG(source)
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/ style="[^"]*"/, '')
}
