"""Controllers at work where nothing that they do lasts, on virtual time: until they settle, for days, or as a plan."""
