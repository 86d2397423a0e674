"""What a picture shows, told from its pixels: where its parts lie, and what each of them is."""
